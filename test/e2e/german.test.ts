/** The translation in an editor that speaks German, by a language pack with nothing in it but its name. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createEditorHome } from '../harness/home.ts';
import { tempDir } from '../support/temp.ts';
import { createWorld, type World } from '../support/world.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';

const stack = new AsyncDisposableStack();
let world: World;
let session: Session;

beforeAll(async () => {
  world = stack.use(await createWorld({ project: 'hafen' }));
  const temp = stack.use(await tempDir());
  const folder = join(temp.path, 'home');
  await mkdir(folder);
  await writeFile(join(folder, 'config.yaml'), 'auth: none\nlocale: de\n');
  const home = createEditorHome({ folder });
  const texts = join(folder, 'texts.json');
  await writeFile(texts, JSON.stringify({ version: '1.0.0', contents: {} }));
  const extensions = [{ extensionIdentifier: { id: 'tests.a-language-pack' }, version: '1.0.0' }];
  const packs = { de: { hash: 'none', extensions, translations: { vscode: texts }, label: 'Deutsch' } };
  await writeFile(join(home.userData, 'languagepacks.json'), JSON.stringify(packs));
  const installed = inject('installedExtensions');
  session = stack.use(await startSession({ target: { folder: world.project }, installed, env: world.env, home }));
});
afterAll(() => stack.disposeAsync());
shootFailures(() => session?.workbench);

test('views, commands, rows and questions are in German', async () => {
  const { workbench } = session;
  const { page, quickInput, trees } = workbench;
  await workbench.openContainer('Pi Lanes');
  await page.getByText('Hier ist noch kein Agent gelaufen.').waitFor();
  await workbench.screenshot('german-welcome');
  await workbench.command('Pi Lanes: Agent starten…');
  await quickInput.pick('scout');
  await quickInput.waitForTitle('scout starten');
  await quickInput.fill('hallo');
  await quickInput.accept();
  await trees.row(/^hallo: scout hat die Arbeit erledigt\./).waitFor({ timeout: 30_000 });
  expect(await trees.row('Heute: 1 Lauf.').isVisible()).toBe(true);
  await workbench.transcripts.waitFor(/hallo/, { word: 'fertig' });
  await workbench.screenshot('german');
});

test('errors are in German too, those of a run and those of a refused launch; the command line stays English', async () => {
  const { workbench } = session;
  const { notifications, quickInput, trees } = workbench;
  const run = await world.cli(['run', '--agent', 'scout', '--task', 'SCRIPT:fail-400', '--wait']);
  expect(run.stderr).toContain('The model failed: 400');
  await notifications.waitFor(/„SCRIPT:fail-400“ ist fehlgeschlagen: Das Modell ist gescheitert: 400/);
  await workbench.screenshot('german-failed');
  await notifications.clear();
  await trees.row(/^SCRIPT:fail-400: scout ist gescheitert\./).waitFor();

  await mkdir(join(world.project, '.vscode'));
  await writeFile(join(world.project, '.vscode', 'settings.json'), '{ "piLanes.defaultModel": "fake/unbekannt" }\n');
  // The window takes settings over a moment after they change; until then the launch succeeds.
  await expect
    .poll(
      async () => {
        await workbench.command('Pi Lanes: Agent starten…');
        await quickInput.pick('scout');
        await quickInput.waitForTitle('scout starten');
        await quickInput.fill('hallo noch einmal');
        await quickInput.accept();
        const refused = notifications.toast(/Pi hat kein verwendbares Modell „fake\/unbekannt“\. /);
        return refused.waitFor({ timeout: 5000 }).then(
          () => 'refused',
          () => 'launched',
        );
      },
      { timeout: 60_000 },
    )
    .toBe('refused');
  await workbench.screenshot('german-refused');
});

test('findings in workflow scripts are in German', async () => {
  const { workbench } = session;
  const { page } = workbench;
  const script = "const r = await runs.run('a b', { agent: 'scout', tsak: 'hallo' });\nreturn r.output;\n";
  await writeFile(join(world.project, 'hafen.workflow.js'), script);
  await workbench.openFile('hafen.workflow.js');
  await page.getByText('Prüfen (Fehler: 1, Warnungen: 1)').click({ timeout: 60_000 });
  const problems = page.locator('.markers-panel');
  await problems
    .getByText(/^Der Schlüssel von runs\.run ist "a b"; er muss ein Text von 1 bis 128 Zeichen sein/)
    .waitFor();
  await problems.getByText(/^runs\.run hat kein Feld „tsak“; .* Meinten Sie „task“\?$/).waitFor();
  await workbench.screenshot('german-findings');
});
