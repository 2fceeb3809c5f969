/** What the rows of the Library say and offer. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentDiscovery } from '../../../src/core/agents/index.ts';
import { agentRows, folderProblems } from '../../../src/extension/library/library-layout.ts';
import type { FolderLibrary, LibraryModel } from '../../../src/extension/library/library-model.ts';
import type { LibraryNode } from '../../../src/extension/trees/library/library-node.ts';
import { LibraryTree } from '../../../src/extension/trees/library/library-tree.ts';
import type { Finding } from '../../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { definition, write } from '../agents/definitions.ts';
import * as editor from './vscode-stand-in.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

let temp: TempDir;
let agentDir: string;
let project: string;
let folders: FolderLibrary[];
let changed: editor.EventEmitter<void>;
let setup: { piMissing: boolean; onDidChange: editor.EventEmitter<void>['event'] };
let piChanged: editor.EventEmitter<void>;
let tree: LibraryTree;
let drawn: (LibraryNode[] | undefined)[];
/** How often files were looked at because somebody came to look. */
let looks: number;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  temp = await tempDir();
  agentDir = join(temp.path, 'agent');
  project = join(temp.path, 'harbour');
  await mkdir(join(project, '.pi'), { recursive: true });
  await mkdir(agentDir);
  folders = [];
  looks = 0;
  changed = new editor.EventEmitter();
  piChanged = new editor.EventEmitter();
  setup = { piMissing: false, onDidChange: piChanged.event };
  const model = {
    ready: async () => undefined,
    lookAgain: () => (looks += 1),
    lookForAgents: () => (looks += 1),
    onDidChange: changed.event,
    get folders() {
      return folders;
    },
  };
  tree = new LibraryTree(model as unknown as LibraryModel, setup as never);
  drawn = [];
  tree.onDidChangeTreeData((node) => drawn.push(node));
});
afterEach(async () => {
  tree.dispose();
  vi.useRealTimers();
  editor.workspace.isTrusted = true;
  await temp.remove();
});

async function look(name = 'harbour', scripts: FolderLibrary['scripts'] = []): Promise<void> {
  const found = await new AgentDiscovery().discover({ cwd: project, agentDir, home: temp.path, env: {} });
  const folder = { name, uri: editor.Uri.file(join(project, name)), index: 0 } as never;
  const library = { folder, agents: agentRows(found), problems: folderProblems(found), ...(scripts && { scripts }) };
  const known = folders.findIndex((one) => one.folder.name === name);
  folders.splice(known < 0 ? folders.length : known, 1, library);
  changed.fire();
}

/** Lets the editor show what it was told to draw; what comes next is drawn at once. */
function rest(): void {
  vi.advanceTimersByTime(500);
  drawn.length = 0;
}

/** What the editor was told to draw, by what its rows are called. */
const redrawn = () => drawn.map((nodes) => nodes?.map((node) => item(node).label));

const script = (path: string, ...severities: Finding['severity'][]) => ({
  uri: editor.Uri.file(join(project, path)) as never,
  path,
  findings: severities.map((severity, line) => ({ severity, line, words: { message: { text: 'expected' } } }) as never),
});

const item = (node: LibraryNode) => tree.getTreeItem(node) as unknown as editor.TreeItem;

/** The whole tree as lines, indented: label, description, what it can be used for. */
async function lines(parent?: LibraryNode, depth = 0): Promise<string[]> {
  const result: string[] = [];
  for (const node of await tree.getChildren(parent)) {
    const { label, description, contextValue } = item(node);
    result.push(`${'  '.repeat(depth)}${label} | ${description ?? ''} | ${contextValue ?? ''}`);
    result.push(...(await lines(node, depth + 1)));
  }
  return result;
}

async function row(name: string, state = 'usable'): Promise<LibraryNode> {
  const groups = await tree.getChildren();
  const all = (await Promise.all(groups.map((group) => tree.getChildren(group)))).flat();
  const found = all.find((node) => node.kind === 'agent' && node.row.name === name && node.row.state.kind === state);
  if (!found) throw new Error(`no ${state} agent ${name}`);
  return found;
}

describe('the Library', () => {
  it('shows every definition with what becomes of it, and every script with how right it is', async () => {
    await write(project, {
      '.pi/agents/pilot.md': definition('pilot', 'Brings ships in.', 'model: fake/big-one', 'thinking: low'),
      '.pi/agents/broken.md': definition('broken', 'Broken.', 'async: perhaps'),
    });
    await write(agentDir, {
      'agents/pilot.md': definition('pilot', 'Mine.'),
      'agents/scout.md': definition('scout', 'Mine.', 'fast: true'),
    });
    const agentOverrides = { oracle: { disabled: true }, reviewer: { model: 'inherit' } };
    await writeFile(join(agentDir, 'settings.json'), JSON.stringify({ subagents: { agentOverrides } }));
    await look('harbour', [
      script('.pi/workflows/right.js'),
      script('a.workflow.js', 'warning'),
      script('workflows/wrong.mjs', 'error', 'warning', 'error'),
    ]);
    const shown = await lines();
    expect(
      shown
        .filter((line) => !/delegate|worker/.test(line))
        .map((line) => line.replace(/(\| .*?) · [A-Z].* \|/, '$1 |')),
    ).toEqual([
      'Agents of the Project | 2 · 1 with mistakes | group.own',
      '  broken | has mistakes | agent.broken',
      '  pilot | big-one, thinking low | agent.own',
      'Your Agents | 2 | group.own',
      '  pilot | replaced by the one of the project | agent.hidden',
      '  scout | cannot be launched yet: fast | agent.replacing',
      'Built-in Agents | 5 | group.other',
      '  oracle | disabled | agent.disabled',
      '  reviewer | model of the parent, thinking high | agent.changed',
      '  scout | replaced by your own | agent.hidden',
      'Workflows | 3 · 1 with mistakes | group.scripts',
      '  right | .pi/workflows/right.js | script.right',
      '  a | 1 warning · a.workflow.js | script.right',
      '  wrong | 2 errors, 1 warning · workflows/wrong.mjs | script.faulty',
    ]);
    expect(item(await row('pilot')).accessibilityInformation?.label).toBe(
      'Agent pilot, the project, big-one, thinking low, Brings ships in.',
    );
    expect(item(await row('scout')).accessibilityInformation?.label).toBe(
      'Agent scout, your own, cannot be launched yet: fast, 1 problem, Mine.',
    );
  });

  it('tells in the tooltip where each part comes from', async () => {
    await write(agentDir, {
      'agents/mine.md': definition('mine', 'Mine.', 'aliases: my, own', 'tools: read, grep', 'thinking: hot'),
    });
    const agentOverrides = { reviewer: { model: 'fake/small' }, worker: { disabled: true } };
    const settings = join(agentDir, 'settings.json');
    await writeFile(settings, JSON.stringify({ subagents: { agentOverrides } }, null, 1));
    await look();
    const tooltip = async (name: string, state?: string) => {
      const node = await row(name, state);
      return String(
        (tree.resolveTreeItem(tree.getTreeItem(node), node).tooltip as editor.MarkdownString | undefined)?.value,
      );
    };
    expect(await tooltip('reviewer')).toMatch(/\*\*Model\*\*: fake\/small/);
    expect(await tooltip('reviewer')).toContain(
      `model, by subagents.agentOverrides.reviewer.model in ${settings}, line 5`,
    );
    expect(await tooltip('worker', 'disabled')).toContain(`subagents.agentOverrides.worker.disabled in ${settings}`);
    const broken = await tooltip('mine', 'refused');
    expect(broken).toContain(join(agentDir, 'agents', 'mine.md'));
    expect(broken).toMatch(/\*\*Line 6\*\*: thinking is hot\./);
  });

  it('has one group for each folder where there are several', async () => {
    await look('harbour');
    await look('pier');
    const roots = await tree.getChildren();
    expect(roots.map((node) => item(node).label)).toEqual(['harbour', 'pier']);
    expect((await lines(roots[1])).slice(0, 2)).toEqual([
      'Agents of the Project |  | group.own',
      '  New Agent… | none of this project yet | note',
    ]);
    const ids = (await Promise.all(roots.map((node) => tree.getChildren(node)))).flat().map((node) => item(node).id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('says what is missing and does the next step at a click', async () => {
    expect(await tree.getChildren()).toEqual([]);
    await look();
    setup.piMissing = true;
    piChanged.fire();
    const [note] = await tree.getChildren();
    expect(note && item(note)).toMatchObject({
      label: 'Install Pi…',
      description: 'nothing can be launched without it',
      command: { command: 'piLanes.installPi' },
    });
    const shown = await lines();
    expect(shown).toContain('  New Agent… | none of your own yet | note');
    expect(shown).toContain('  New Workflow… | no scripts yet | note');
    editor.workspace.isTrusted = false;
    changed.fire();
    const [untrusted, ...others] = await tree.getChildren();
    expect(untrusted && item(untrusted)).toMatchObject({ command: { command: 'workbench.trust.manage' } });
    expect(others.map((node) => item(node).label)).toEqual(['Your Agents', 'Built-in Agents', 'Workflows']);
  });

  it('shows why agents cannot be looked for, and still the scripts', async () => {
    await look('harbour', [script('a.workflow.js')]);
    const [first] = folders;
    if (!first) throw new Error('no folder');
    folders[0] = { ...first, agents: [], error: { code: 'internal', message: 'The disk is on fire.' } };
    changed.fire();
    expect(await lines()).toEqual([
      'The disk is on fire. |  | note',
      'Workflows | 1 | group.scripts',
      '  a | a.workflow.js | script.right',
    ]);
  });

  it('opens what came along only while there is nothing of one’s own', async () => {
    await look();
    const builtin = async () => {
      const nodes = await tree.getChildren();
      const found = nodes.find((node) => node.kind === 'group' && node.group === 'builtin');
      return found && item(found).collapsibleState;
    };
    expect(await builtin()).toBe(editor.TreeItemCollapsibleState.Expanded);
    await write(agentDir, { 'agents/mine.md': definition('mine', 'Mine.') });
    await look();
    expect(await builtin()).toBe(editor.TreeItemCollapsibleState.Collapsed);
  });

  it('looks once more when somebody comes to look and while it is shown, and not otherwise', () => {
    editor.windowState.fire({ focused: true });
    expect(looks).toBe(0);
    editor.created.view.visible = true;
    editor.created.visibility.fire({ visible: true });
    editor.windowState.fire({ focused: true });
    expect(looks).toBe(2);
    editor.windowState.fire({ focused: false });
    editor.created.visibility.fire({ visible: false });
    expect(looks).toBe(2);
    vi.advanceTimersByTime(10_000);
    expect(looks).toBe(4);
    editor.created.view.visible = false;
    vi.advanceTimersByTime(10_000);
    expect(looks).toBe(4);
  });

  it('draws only the row that looks different, whatever else there is', async () => {
    await write(project, { '.pi/agents/pilot.md': definition('pilot', 'Brings ships in.') });
    await look('harbour', [script('a.workflow.js'), script('b.workflow.js')]);
    await lines();
    rest();
    await look('harbour', [script('a.workflow.js'), script('b.workflow.js')]);
    expect(drawn).toEqual([]);
    await look('harbour', [script('a.workflow.js'), script('b.workflow.js', 'warning')]);
    expect(redrawn()).toEqual([['b']]);
    rest();
    await write(project, { '.pi/agents/pilot.md': definition('pilot', 'Brings them out.') });
    await look('harbour', [script('a.workflow.js'), script('b.workflow.js', 'warning')]);
    expect(redrawn()).toEqual([['pilot']]);
    expect(item(await row('pilot')).description).toBe('Brings them out.');
  });

  it('draws the group in which a row came or went or was found to be wrong, and no other', async () => {
    await look('harbour', [script('a.workflow.js')]);
    await lines();
    rest();
    await write(project, { '.pi/agents/pilot.md': definition('pilot', 'Brings ships in.') });
    await look('harbour', [script('a.workflow.js')]);
    // What came along is no longer opened by itself.
    expect(redrawn()).toEqual([['Agents of the Project', 'Built-in Agents']]);
    rest();
    await write(project, { '.pi/agents/crane.md': definition('crane', 'Lifts.') });
    await look('harbour', [script('a.workflow.js')]);
    expect(redrawn()).toEqual([['Agents of the Project']]);
    rest();
    await write(project, { '.pi/agents/crane.md': definition('crane', 'Lifts.', 'async: perhaps') });
    await look('harbour', [script('a.workflow.js')]);
    expect(redrawn()).toEqual([['Agents of the Project']]);
    rest();
    await look('harbour', [script('a.workflow.js', 'error')]);
    expect(redrawn()).toEqual([['Workflows']]);
    rest();
    await look('harbour', []);
    expect(redrawn()).toEqual([['Workflows']]);
  });

  it('draws everything when what stands first comes or goes', async () => {
    await look();
    await lines();
    rest();
    setup.piMissing = true;
    piChanged.fire();
    expect(drawn).toEqual([undefined]);
    rest();
    await look('pier');
    expect(drawn).toEqual([undefined]);
  });

  it('keeps one object for each row, which says what the row says now', async () => {
    await write(project, { '.pi/agents/pilot.md': definition('pilot', 'Brings ships in.') });
    await look('harbour', [script('a.workflow.js')]);
    const all = async () => {
      const roots = await tree.getChildren();
      return [...roots, ...(await Promise.all(roots.map((node) => tree.getChildren(node)))).flat()];
    };
    const before = await all();
    await write(project, {
      '.pi/agents/pilot.md': definition('pilot', 'Brings them out.'),
      '.pi/agents/crane.md': definition('crane', 'Lifts.'),
    });
    await look('harbour', [script('a.workflow.js', 'error')]);
    const after = await all();
    const pilot = await row('pilot');
    expect(after).toHaveLength(before.length + 1);
    for (const node of before) expect(after.filter((one) => one === node)).toHaveLength(1);
    expect(before).toContain(pilot);
    expect(pilot).toMatchObject({ row: { agent: { description: 'Brings them out.' } } });
  });

  it('finds the row of an action as it is now: the one that was clicked, else the selected one', async () => {
    await write(project, { '.pi/agents/pilot.md': definition('pilot', 'Brings ships in.') });
    await look();
    const pilot = await row('pilot');
    const old = { ...pilot };
    await write(project, { '.pi/agents/pilot.md': definition('pilot', 'Brings them out.') });
    await look();
    expect(tree.meant(old)).toBe(pilot);
    expect(tree.meant(undefined)).toBeUndefined();
    editor.created.view.selection = [old];
    expect(tree.meant(undefined)).toBe(pilot);
    const scout = await row('scout');
    expect(tree.meant(scout)).toBe(scout);
    expect(tree.meant({ kind: 'section', key: 'of another view' })).toBe(pilot);
  });

  it('tells two failures of one kind apart', async () => {
    await look();
    const [first] = folders;
    if (!first) throw new Error('no folder');
    const error = { code: 'internal' as const, message: 'The disk is on fire.' };
    folders[0] = { ...first, agents: [], error, scriptsError: error };
    changed.fire();
    expect(await lines()).toEqual([
      'The disk is on fire. |  | note',
      'Workflows |  | group.scripts',
      '  The disk is on fire. |  | note',
    ]);
  });

  it('is drawn rarely when much changes, and with all of it', async () => {
    await look('harbour', [script('a.workflow.js'), script('b.workflow.js')]);
    await lines();
    rest();
    const [first] = folders;
    if (!first) throw new Error('no folder');
    for (let i = 1; i <= 100; i++) {
      const warnings = new Array<'warning'>(i).fill('warning');
      folders[0] = { ...first, scripts: [script('a.workflow.js', ...warnings), script('b.workflow.js', ...warnings)] };
      changed.fire();
    }
    expect(redrawn()).toEqual([['a', 'b']]);
    vi.advanceTimersByTime(210);
    expect(redrawn()).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });
});
