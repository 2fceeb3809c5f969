import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import * as vscode from 'vscode';
import { agentDirectory, type ProjectLayout, projectLayout, rootLayout } from '../../src/core/projects/index.ts';
import { COMMANDS, TRANSCRIPT_VIEW } from '../../src/extension/command-ids.ts';
import {
  type FromTranscriptPanel,
  type PanelHead,
  type PanelItem,
  type ToTranscriptPanel,
  toTranscriptPanel,
} from '../../src/protocol/index.ts';
import { waitFor } from '../support/wait-for.ts';
import { assistantSays, assistantStreams, startLiveRun, userSays, workspaceProject } from './live-run.ts';
import { activeExtension } from './pi-lanes.ts';

/** A page that does with messages what the real one does, without drawing anything. */
class Page {
  readonly messages: ToTranscriptPanel[] = [];
  items: PanelItem[] = [];
  head: PanelHead | undefined;
  readonly #say: (message: unknown) => void;

  constructor(say: (message: unknown) => void) {
    this.#say = say;
  }

  say(message: FromTranscriptPanel): void {
    this.#say(message);
  }

  sayOdd(message: unknown): void {
    this.#say(message);
  }

  take(data: unknown): void {
    const message = toTranscriptPanel.parse(data);
    this.messages.push(message);
    if (message.type === 'snapshot') {
      this.items = message.window.items;
      this.head = message.head;
    }
    if (message.type !== 'delta') return;
    this.head = message.head ?? this.head;
    const { changed, removed, added, grown } = message;
    this.items = this.items.filter(({ key }) => !removed.includes(key));
    this.items = this.items.map((item) => changed.find(({ key }) => key === item.key) ?? item).concat(added);
    for (const { key, text } of grown) {
      const item = this.items.find((one) => one.key === key);
      if (item && 'body' in item) item.body.text += text;
    }
  }

  get texts(): string[] {
    return this.items.flatMap((item) => ('body' in item ? [item.body.text] : []));
  }

  shows(...texts: string[]): Promise<unknown> {
    return waitFor(texts.join(' | '), () => JSON.stringify(this.texts) === JSON.stringify(texts));
  }

  hears<T extends ToTranscriptPanel['type']>(type: T): Promise<Extract<ToTranscriptPanel, { type: T }>> {
    const fits = (message: ToTranscriptPanel): message is Extract<ToTranscriptPanel, { type: T }> =>
      message.type === type;
    return waitFor(`a message ${type}`, () => this.messages.findLast(fits));
  }
}

/** A project that no folder of this window belongs to. */
function otherProject(): ProjectLayout {
  return projectLayout(join(rootLayout(agentDirectory()).projects, 'other-0123456789abcdef'));
}

suite('a transcript panel', () => {
  let project: ProjectLayout;
  let pages: Page[];

  suiteSetup(async () => {
    await activeExtension();
    project = await workspaceProject();
  });

  setup(() => {
    pages = [];
    // The panel is the editor's own; only what its page hears and says is ours.
    const create = vscode.window.createWebviewPanel;
    mock.method(vscode.window, 'createWebviewPanel', (...args: Parameters<typeof create>) => {
      const panel = create(...args);
      const said = new vscode.EventEmitter<unknown>();
      const page = new Page((message) => said.fire(message));
      pages.push(page);
      const webview = new Proxy(panel.webview, {
        get(target, name) {
          if (name === 'onDidReceiveMessage') return said.event;
          if (name === 'postMessage') {
            return async (message: unknown) => {
              page.take(structuredClone(message));
              return true;
            };
          }
          return Reflect.get(target, name);
        },
        set: (target, name, value) => Reflect.set(target, name, value),
      });
      return new Proxy(panel, {
        get(target, name) {
          const value: unknown = name === 'webview' ? webview : Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
        set: (target, name, value) => Reflect.set(target, name, value),
      });
    });
  });

  teardown(async () => {
    mock.restoreAll();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  const tabs = () =>
    vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(({ input }) => input instanceof vscode.TabInputWebview && input.viewType.endsWith(TRANSCRIPT_VIEW));

  async function openPanel(runId: string): Promise<Page> {
    await vscode.commands.executeCommand(COMMANDS.refreshRuns);
    await vscode.commands.executeCommand(COMMANDS.openTranscript, { runId });
    const page = pages.at(-1);
    assert.ok(page);
    return page;
  }

  test('shows a run while it works and when it has ended; a second click shows the same panel', async () => {
    const run = await startLiveRun(project, 'Mend the fence.');
    await run.say(userSays('Mend the fence.'));
    const page = await openPanel(run.runId);
    assert.deepEqual(page.messages, [], 'nothing is said before the page is ready');
    page.say({ type: 'ready' });
    await page.shows('Mend the fence.');
    await waitFor('the state', () => page.head?.state === 'running');
    assert.equal(page.head?.can.steer, true);
    await waitFor('the tab', () => tabs()[0]?.label === 'worker · Mend the fence.');

    await run.say(assistantStreams('Two boards '));
    await page.shows('Mend the fence.', 'Two boards ');
    await run.say(assistantStreams('are loose'));
    await run.say(assistantSays('Two boards are loose.'));
    await page.shows('Mend the fence.', 'Two boards are loose.');

    await openPanel(run.runId);
    assert.equal(pages.length, 1);
    assert.equal(tabs().length, 1);

    await run.end('complete');
    await waitFor('the end', () => page.head?.state === 'complete');
    assert.equal(page.head?.can.steer, false);
  });

  test('answers its page: other items, bodies, searches, and what it does not understand', async () => {
    const run = await startLiveRun(project, 'Count.');
    await run.say(...Array.from({ length: 200 }, (_, index) => userSays(`word ${index}`)));
    await run.say(assistantSays('z'.repeat(40_000)));
    const page = await openPanel(run.runId);
    page.say({ type: 'ready' });
    const { window } = await page.hears('snapshot');
    assert.ok(window.before);
    page.say({ type: 'page', request: 1, direction: 'before', cursor: window.before });
    const before = await page.hears('page');
    assert.equal(before.request, 1);
    assert.ok((before.window?.items.length ?? 0) > 10);

    const long = window.items.find((item) => item.kind === 'text');
    assert.ok(long?.kind === 'text' && long.body.ref);
    page.say({ type: 'body.fetch', request: 2, ref: long.body.ref, limit: 100_000 });
    assert.equal((await page.hears('body')).text, 'z'.repeat(40_000));

    page.say({ type: 'find', request: 3, query: 'WORD 17', matchCase: false });
    const found = await waitFor('the hits', () =>
      page.messages.flatMap((message) => (message.type === 'found' ? message.hits : [])).slice(0, 11),
    );
    assert.ok(found.every(({ excerpt, at, length }) => excerpt.slice(at, at + length) === 'word 17'));

    page.sayOdd({ type: 'run', command: 'rm -rf' });
    assert.equal((await page.hears('failed')).error.code, 'message_invalid');

    page.say({ type: 'copy', text: 'copied' });
    await waitFor('the clipboard', async () => (await vscode.env.clipboard.readText()) === 'copied');

    page.say({ type: 'open.body', ref: long.body.ref, title: 'An answer' });
    await waitFor('the document', () => vscode.window.activeTextEditor?.document.getText() === 'z'.repeat(40_000));
    await run.end('complete');
  });

  test('keeps what was not sent, and says why a run that has ended does not hear it', async () => {
    const run = await startLiveRun(project, 'Sleep.');
    await run.say(userSays('Sleep.'));
    await run.end('complete');
    const page = await openPanel(run.runId);
    page.say({ type: 'ready' });
    await page.shows('Sleep.');
    page.say({ type: 'steer', request: 5, mode: 'steer', text: 'Wake up!' });
    const receipt = await page.hears('receipt');
    assert.equal(receipt.state, 'refused');
    assert.match(receipt.message ?? '', /has ended/);
    page.messages.length = 0;
    page.say({ type: 'ready' });
    assert.equal((await page.hears('snapshot')).draft, 'Wake up!');
  });

  test('passes the commands of its page on to the run it shows, wherever that is kept', async () => {
    const run = await startLiveRun(otherProject(), 'Elsewhere.');
    await run.say(userSays('Elsewhere.'));
    await run.end('complete');
    await vscode.commands.executeCommand(COMMANDS.openTranscript, { runId: run.runId, directory: run.directory });
    const page = pages.at(-1);
    assert.ok(page);
    page.say({ type: 'ready' });
    await page.shows('Elsewhere.');
    await waitFor('the state', () => page.head?.state === 'complete');
    page.say({ type: 'command', name: 'open-text' });
    await waitFor('the text', () =>
      vscode.window.activeTextEditor?.document.getText().startsWith('── user\nElsewhere.'),
    );
  });

  test('opens a file at its line, and only what is there', async () => {
    const run = await startLiveRun(project, 'Look.');
    const page = await openPanel(run.runId);
    page.say({ type: 'ready' });
    await page.hears('snapshot');
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    assert.ok(folder);
    const file = vscode.Uri.joinPath(folder, 'lines.txt');
    await vscode.workspace.fs.writeFile(file, Buffer.from('1\n2\n3\n4\n'));
    page.say({ type: 'open.file', path: file.fsPath, line: 3 });
    await waitFor('the line', () => {
      const editor = vscode.window.activeTextEditor;
      return editor?.document.uri.fsPath === file.fsPath && editor.selection.active.line === 2;
    });
    await run.end('complete');
  });

  suite('of a session file', () => {
    let folder: string;
    suiteSetup(() => {
      folder = mkdtempSync(join(tmpdir(), 'pi-lanes-session-'));
    });
    suiteTeardown(() => rmSync(folder, { recursive: true, force: true }));

    test('shows what is in it', async () => {
      const file = join(folder, 'a.jsonl');
      const entry = {
        type: 'message',
        id: 'a',
        parentId: null,
        timestamp: 't',
        message: { role: 'user', content: 'Hello.' },
      };
      await writeFile(file, `{"type":"session","id":"s","cwd":"/c"}\n${JSON.stringify(entry)}\n`);
      await vscode.commands.executeCommand(COMMANDS.openSession, vscode.Uri.file(file));
      const [page] = pages;
      assert.ok(page);
      page.say({ type: 'ready' });
      await page.shows('Hello.');
      assert.equal(page.head?.title, 'a.jsonl');
      assert.equal(page.head?.runId, null);
    });

    test('refuses other files', async () => {
      await vscode.commands.executeCommand(COMMANDS.openSession, vscode.Uri.file(join(folder, 'a.txt')));
      assert.equal(pages.length, 0);
    });
  });
});
