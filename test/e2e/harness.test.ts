import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEditorHome } from '../harness/home.ts';
import { projectNode, projectRoot } from '../harness/places.ts';
import { processesOf } from '../harness/processes.ts';
import { packageExtension } from '../harness/vsix.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';
import { THEMES, type Theme, type Workbench } from './workbench.ts';

// Checks the harness with a throw-away extension, so that a failure elsewhere is a failure of Pi Lanes.
const temp = mkdtempSync(join(tmpdir(), 'pi-lanes-harness-'));
const vsix = join(temp, 'sample.vsix');

beforeAll(async () => {
  cpSync(join(projectRoot, 'test', 'harness', 'sample'), join(temp, 'sample'), { recursive: true });
  await packageExtension(join(temp, 'sample'), vsix);
});

afterAll(() => rmSync(temp, { recursive: true, force: true }));

describe('a packaged extension in a real VS Code', () => {
  const folder = join(temp, 'work space');
  let session: Session;
  let workbench: Workbench;

  shootFailures(() => workbench);

  beforeAll(async () => {
    cpSync(join(projectRoot, 'test', 'host', 'fixture'), folder, { recursive: true });
    writeFileSync(join(folder, 'letter.txt'), 'first line\nsecond line\n');
    session = await startSession({ vsix, target: { folder }, env: { SAMPLE_WORD: 'passed-on' } });
    workbench = session.workbench;
    await workbench.statusBarItem('Sample ready').waitFor({ timeout: 60_000 });
  });

  afterAll(async () => {
    await session?.close();
  });

  it('runs a command through the palette and shows its notification, with buttons', async () => {
    await workbench.command('Sample: Greet');
    expect(await workbench.notifications.waitFor('Hello from')).toBe('Hello from the sample');
    await workbench.screenshot('harness-notification');
    await workbench.notifications.press('Hello from', 'Wave');
    await workbench.notifications.waitFor('You chose Wave');
    await workbench.notifications.clear();
  });

  it('runs the command behind a status bar item', async () => {
    await workbench.statusBarItem('Sample ready').click();
    await workbench.notifications.waitFor('Hello from the sample');
    await workbench.notifications.clear();
  });

  it('answers quick picks and input boxes and reads their validation', async () => {
    await workbench.command('Sample: Ask');
    await workbench.quickInput.waitForTitle('Pick a colour');
    expect(await workbench.quickInput.labels()).toEqual(['Red', 'Green', 'Dark Green']);
    await workbench.quickInput.pick('Green');
    await workbench.quickInput.waitForTitle('Name it');
    await workbench.quickInput.fill('ab');
    await workbench.quickInput.waitForMessage('Too short');
    await workbench.screenshot('harness-input');
    await workbench.quickInput.fill('abc');
    await workbench.quickInput.accept();
    await workbench.notifications.waitFor('Asked: Green abc');
    await workbench.command('Sample: Choose Several');
    await workbench.quickInput.pickSeveral(['One', 'Three']);
    await workbench.notifications.waitFor('Chosen: One+Three');
    expect(await workbench.notifications.all()).toEqual(['Chosen: One+Three', 'Asked: Green abc']);
    await workbench.notifications.clear();
  });

  it('answers a modal question', async () => {
    await workbench.command('Sample: Confirm');
    await workbench.dialogs.answer('can not be undone', 'Delete');
    await workbench.notifications.waitFor('Answer: Delete');
    await workbench.notifications.clear();
  });

  it('uses a tree by its rows, their buttons and their context menu', async () => {
    await workbench.openContainer('Sample');
    await workbench.openContainer('Sample');
    const { trees } = workbench;
    expect(await trees.rows('Fruit')).toEqual(['Apple', 'Banana']);
    await trees.expand(trees.row('Banana', 'Fruit'));
    await trees.row('Banana seed').waitFor();
    await workbench.screenshot('harness-tree');
    await trees.inlineAction(trees.row('Banana'), 'Run');
    await workbench.notifications.waitFor('Ran Banana');
    await trees.contextAction(trees.row('Apple'), 'Remove');
    await trees.row('Apple').waitFor({ state: 'detached' });
    await trees.viewAction('Fruit', 'Refresh');
    await workbench.notifications.waitFor('Refreshed');
    await workbench.notifications.clear();
  });

  it('reads editors and output channels, and passes the environment on', async () => {
    await workbench.openFile('letter.txt');
    await workbench.waitForEditorText('second line');
    expect(await workbench.editorText()).toBe('first line\nsecond line\n');
    await workbench.closeTab('letter.txt');
    const text = await workbench.outputText('Sample Log', 'start number');
    expect(text).toContain('started, SAMPLE_WORD=passed-on, trusted=true');
  });

  it('works inside a webview, in every theme', async () => {
    await workbench.command('Sample: Open Panel');
    const frame = await workbench.webviews.frame('Sample Panel');
    await frame.getByRole('button', { name: 'Press' }).click();
    await frame.locator('#count', { hasText: '1' }).waitFor();
    for (const theme of Object.keys(THEMES) as Theme[]) {
      await workbench.setTheme(theme);
      await workbench.screenshot(`harness-theme-${theme.replaceAll(' ', '-')}`);
    }
  });

  it('remembers its state over a reload', async () => {
    await workbench.reload();
    await workbench.statusBarItem('Sample ready').waitFor();
    await workbench.outputText('Sample Log', 'start number 2');
  });

  it('opens a second window and one in another browser on the same server', async () => {
    const second = await session.openWindow({ folder: temp });
    await second.statusBarItem('Sample ready').waitFor();
    const elsewhere = await session.openElsewhere({});
    await elsewhere.statusBarItem('Sample ready').waitFor();
    await second.close();
    await elsewhere.close();
  });

  it('leaves no process and no folder behind', async () => {
    const { home } = session;
    expect(processesOf(home.folder).length).toBeGreaterThan(3);
    await session.close();
    await expect.poll(() => processesOf(home.folder), { timeout: 5_000 }).toEqual([]);
    expect(existsSync(home.folder)).toBe(false);
  });
});

describe('a home that is kept', () => {
  it('asks for trust in a multi-root workspace once, and knows extension and state when it is opened again', async () => {
    const workspace = join(temp, 'two.code-workspace');
    for (const path of ['one', 'two']) mkdirSync(join(temp, path));
    writeFileSync(workspace, JSON.stringify({ folders: [{ path: 'one' }, { path: 'two' }] }));
    const home = createEditorHome({ folder: join(temp, 'home'), workspaceTrust: true });
    {
      await using first = await startSession({ home, vsix, target: { workspace } });
      await first.workbench.statusBarItem('Sample ready').waitFor({ timeout: 60_000 });
      await first.workbench.statusBarItem('Restricted Mode').waitFor();
      expect(await first.workbench.outputText('Sample Log', 'start number 1')).toContain('trusted=false');
      await first.workbench.trustWorkspace();
    }
    {
      await using second = await startSession({ home, target: { workspace } });
      expect(await second.workbench.outputText('Sample Log', 'start number 2')).toContain('trusted=true');
    }
    expect(existsSync(home.folder)).toBe(true);
  });
});

describe('the editor server', () => {
  it('ends with the process that started it, even when that is killed', async () => {
    const home = createEditorHome({ folder: join(temp, 'orphan') });
    const script = `
      import { createEditorHome } from '${new URL('../harness/home.ts', import.meta.url).href}';
      import { startEditorServer } from '${new URL('../harness/server.ts', import.meta.url).href}';
      const home = createEditorHome({ folder: ${JSON.stringify(home.folder)} });
      console.log((await startEditorServer({ home })).url);`;
    const starter = spawn(projectNode(), ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [url] = await once(starter.stdout, 'data');
    expect((await fetch(String(url).trim())).ok).toBe(true);
    expect(processesOf(home.folder)).not.toEqual([]);
    starter.kill('SIGKILL');
    await expect.poll(() => processesOf(home.folder), { timeout: 5_000 }).toEqual([]);
  });
});
