import { join } from 'node:path';
import { execa } from 'execa';
import { closedEnvironment } from './environment.ts';
import type { EditorHome } from './home.ts';
import { projectNode, projectRoot } from './places.ts';
import { prepareEditor } from './prepare.ts';
import { codeServerEntry, homeArguments } from './server.ts';

/** Packs the extension in `folder` (already built) into the file `vsix`, without its npm dependencies. */
export async function packageExtension(folder: string, vsix: string): Promise<void> {
  const vsce = join(projectRoot, 'node_modules', '@vscode', 'vsce', 'vsce');
  const args = ['package', '--no-dependencies', '--allow-missing-repository', '--skip-license', '--out', vsix];
  await execa(projectNode(), [vsce, ...args], { cwd: folder, stdin: 'ignore', timeout: 60_000 });
}

/** Installs a packaged extension as a person would. Do it before the server of this home starts. */
export async function installExtension(home: EditorHome, vsix: string): Promise<void> {
  const { codeServer } = await prepareEditor();
  const args = [codeServerEntry(codeServer), ...homeArguments(home), '--install-extension', vsix];
  const env = closedEnvironment(home.folder);
  await execa(projectNode(), args, { env, extendEnv: false, stdin: 'ignore', timeout: 60_000 });
}
