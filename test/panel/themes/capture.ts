// Writes what VS Code gives a webview (theme variables, body classes, its default style sheet) into this folder, one file
// per theme. Run it when the editor of the harness has changed: `node test/panel/themes/capture.ts`.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSession } from '../../e2e/session.ts';
import { projectRoot } from '../../harness/places.ts';
import { packageExtension } from '../../harness/vsix.ts';

/** File name: identifier of the theme, as settings have it. */
const THEMES = {
  'dark-modern': 'Dark Modern',
  'light-modern': 'Light Modern',
  'hc-dark': 'Default High Contrast',
  'hc-light': 'Default High Contrast Light',
};

const temp = mkdtempSync(join(tmpdir(), 'pi-lanes-themes-'));
const vsix = join(temp, 'sample.vsix');
cpSync(join(projectRoot, 'test', 'harness', 'sample'), join(temp, 'sample'), { recursive: true });
await packageExtension(join(temp, 'sample'), vsix);
for (const [name, theme] of Object.entries(THEMES)) {
  // VS Code reads its settings when a window loads.
  await using session = await startSession({
    vsix,
    target: { folder: temp },
    settings: { 'workbench.colorTheme': theme },
  });
  await session.workbench.statusBarItem('Sample ready').waitFor({ timeout: 60_000 });
  await session.workbench.command('Sample: Open Panel');
  const frame = await session.workbench.webviews.frame('Sample Panel');
  await frame.getByRole('button', { name: 'Press' }).waitFor();
  const captured = await frame.evaluate(`({
    bodyClass: document.body.className,
    bodyData: { ...document.body.dataset },
    variables: Object.fromEntries([...document.documentElement.style].map((key) => [key, document.documentElement.style.getPropertyValue(key)])),
    defaultStyles: document.getElementById('_defaultStyles')?.textContent ?? null,
  })`);
  writeFileSync(join(import.meta.dirname, `${name}.json`), `${JSON.stringify(captured, null, 2)}\n`);
  console.log(name);
}
rmSync(temp, { recursive: true, force: true });
