/** The Library view: agents by whose they are, and workflow scripts; by folder where the workspace has several. */
import * as vscode from 'vscode';
import { LIBRARY_VIEW } from '../../command-ids.ts';
import { AGENT_GROUPS, type AgentGroup } from '../../library/library-layout.ts';
import type { FolderLibrary, LibraryModel } from '../../library/library-model.ts';
import { countOf } from '../../library/library-scripts.ts';
import { createProjectItem } from '../runs/plain-items.ts';
import { Refreshes } from '../runs/refreshes.ts';
import { createAgentItem } from './agent-item.ts';
import { createAgentTooltip } from './agent-tooltip.ts';
import type { LibraryNode } from './library-node.ts';
import { createFailureItem, createFaultItem, createGroupItem, createNoteItem, type GroupFacts } from './plain-items.ts';
import { createScriptItem, createScriptTooltip } from './script-item.ts';

/** What the Library asks of how far a person is with setting up. */
export interface Setup {
  /** Looked for and not found. */
  readonly piMissing: boolean;
  readonly onDidChange: vscode.Event<void>;
}

/** Between two looks for agents while the view is shown: of folders that came with their files the editor may tell nothing. */
const LOOK_MS = 5000;

export class LibraryTree implements vscode.TreeDataProvider<LibraryNode>, vscode.Disposable {
  readonly #model: LibraryModel;
  readonly #setup: Setup;
  readonly #changed = new vscode.EventEmitter<LibraryNode | undefined>();
  readonly #refreshes = new Refreshes<LibraryNode>(() => this.#changed.fire(undefined));
  readonly #subscription: vscode.Disposable;
  readonly view: vscode.TreeView<LibraryNode>;
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(model: LibraryModel, setup: Setup) {
    this.#model = model;
    this.#setup = setup;
    this.view = vscode.window.createTreeView(LIBRARY_VIEW, { treeDataProvider: this, showCollapseAll: true });
    const redraw = () => this.#refreshes.ask();
    const timer = setInterval(() => {
      if (this.view.visible) model.lookForAgents();
    }, LOOK_MS);
    this.#subscription = vscode.Disposable.from(
      this.view,
      { dispose: () => clearInterval(timer) },
      this.#refreshes,
      this.#changed,
      model.onDidChange(redraw),
      setup.onDidChange(redraw),
      vscode.workspace.onDidGrantWorkspaceTrust(redraw),
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible) model.lookAgain();
      }),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused && this.view.visible) model.lookAgain();
      }),
    );
  }

  async getChildren(parent?: LibraryNode): Promise<LibraryNode[]> {
    await this.#model.ready();
    const { folders } = this.#model;
    if (!parent) {
      const [first] = folders;
      if (!first) return [];
      const notes = this.#notes(first.folder);
      if (folders.length === 1) return [...notes, ...childrenOf(first)];
      return [...notes, ...folders.map(({ folder }): LibraryNode => ({ kind: 'project', folder }))];
    }
    const library = this.#of(parent);
    if (!library) return [];
    if (parent.kind === 'project') return childrenOf(library);
    if (parent.kind !== 'group') return [];
    return parent.group === 'scripts' ? scriptRows(library) : agentNodes(library, parent.group);
  }

  #notes(folder: vscode.WorkspaceFolder): LibraryNode[] {
    const notes: LibraryNode[] = [];
    if (!vscode.workspace.isTrusted) notes.push({ kind: 'note', note: 'untrusted', folder });
    else if (this.#setup.piMissing) notes.push({ kind: 'note', note: 'no-pi', folder });
    return notes;
  }

  #of({ folder }: LibraryNode): FolderLibrary | undefined {
    return this.#model.folders.find((one) => one.folder.uri.toString() === folder.uri.toString());
  }

  getTreeItem(node: LibraryNode): vscode.TreeItem {
    const id = idOf(node);
    switch (node.kind) {
      case 'project':
        return createProjectItem(node.folder.name, id);
      case 'group': {
        const library = this.#of(node);
        return library ? createGroupItem(factsOf(library, node.group), id) : new vscode.TreeItem('');
      }
      case 'agent':
        return createAgentItem(node.row, id, node);
      case 'script':
        return createScriptItem(node.row, id, node);
      case 'problem':
        return createFaultItem(node.problem, id);
      case 'failure':
        return createFailureItem(node.error, id);
      case 'note':
        return createNoteItem(node.note, id, node);
      default:
        return node satisfies never;
    }
  }

  resolveTreeItem(item: vscode.TreeItem, node: LibraryNode): vscode.TreeItem {
    if (node.kind === 'agent') item.tooltip = createAgentTooltip(node.row);
    if (node.kind === 'script') item.tooltip = createScriptTooltip(node.row);
    return item;
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

/** By it the view knows a row again after it was drawn anew. */
function idOf(node: LibraryNode): string {
  const at = node.folder.uri.toString();
  switch (node.kind) {
    case 'project':
      return `project ${at}`;
    case 'group':
      return `group ${node.group} ${at}`;
    case 'agent':
      return `agent ${node.row.group} ${node.row.name} ${node.row.file} ${at}`;
    case 'script':
      return `script ${node.row.path} ${at}`;
    case 'problem':
      return `problem ${node.problem.file} ${node.problem.line} ${node.problem.column} ${node.problem.text} ${at}`;
    case 'failure':
      return `failure ${node.error.code} ${at}`;
    case 'note':
      return `note ${node.note} ${node.group ?? ''} ${at}`;
    default:
      return node satisfies never;
  }
}

function childrenOf({ folder, agents, problems, error }: FolderLibrary): LibraryNode[] {
  const faults = problems.map((problem): LibraryNode => ({ kind: 'problem', folder, problem }));
  const failure: LibraryNode[] = error ? [{ kind: 'failure', folder, error }] : [];
  const scripts: LibraryNode = { kind: 'group', folder, group: 'scripts' };
  if (error) return [...failure, scripts];
  const isShown = (group: AgentGroup) =>
    agents.some((row) => row.group === group) ||
    group === 'user' ||
    (group === 'project' && vscode.workspace.isTrusted);
  const groups = AGENT_GROUPS.filter(isShown).map((group): LibraryNode => ({ kind: 'group', folder, group }));
  return [...faults, ...groups, scripts];
}

function agentNodes({ folder, agents }: FolderLibrary, group: AgentGroup): LibraryNode[] {
  const rows = agents.filter((row) => row.group === group);
  if (rows.length === 0) return [{ kind: 'note', note: 'no-agents', group, folder }];
  return rows.map((row): LibraryNode => ({ kind: 'agent', folder, row }));
}

function scriptRows({ folder, scripts, scriptsError }: FolderLibrary): LibraryNode[] {
  if (scriptsError) return [{ kind: 'failure', folder, error: scriptsError }];
  if (!scripts) return [{ kind: 'note', note: 'looking', folder }];
  if (scripts.length === 0) return [{ kind: 'note', note: 'no-scripts', folder }];
  return scripts.map((row): LibraryNode => ({ kind: 'script', folder, row }));
}

/** What came along is closed where there is something of one's own. */
function factsOf({ agents, scripts }: FolderLibrary, group: AgentGroup | 'scripts'): GroupFacts {
  if (group === 'scripts') {
    const broken = (scripts ?? []).filter(({ findings = [] }) => countOf(findings, 'error') > 0).length;
    return { group, count: scripts?.length, broken, open: true };
  }
  const rows = agents.filter((row) => row.group === group);
  const isOwn = group === 'project' || group === 'user';
  return {
    group,
    count: rows.length,
    broken: rows.filter(({ state }) => state.kind === 'refused').length,
    open: isOwn || !agents.some((row) => row.group === 'project' || row.group === 'user'),
  };
}
