/**
 * The Library view: agents by whose they are, and workflow scripts; by folder where the workspace has several. Until the editor has
 * asked again for what stands in a row that is drawn anew, it hands none of that to an action; so only what changed is drawn anew.
 */
import * as vscode from 'vscode';
import { LIBRARY_VIEW } from '../../command-ids.ts';
import type { LibraryModel } from '../../library/library-model.ts';
import { createProjectItem } from '../runs/plain-items.ts';
import { Refreshes } from '../runs/refreshes.ts';
import { createAgentItem } from './agent-item.ts';
import { createAgentTooltip } from './agent-tooltip.ts';
import { layoutTree } from './layout-tree.ts';
import { idOf, type LibraryNode, libraryNode } from './library-node.ts';
import { LibraryRows } from './library-rows.ts';
import { createFailureItem, createFaultItem, createGroupItem, createNoteItem } from './plain-items.ts';
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
  readonly #changed = new vscode.EventEmitter<LibraryNode[] | undefined>();
  readonly #refreshes = new Refreshes<LibraryNode>((nodes) => this.#changed.fire(nodes));
  readonly #rows = new LibraryRows();
  readonly #subscription: vscode.Disposable;
  readonly view: vscode.TreeView<LibraryNode>;
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(model: LibraryModel, setup: Setup) {
    this.#model = model;
    this.#setup = setup;
    this.view = vscode.window.createTreeView(LIBRARY_VIEW, { treeDataProvider: this, showCollapseAll: true });
    const redraw = () => this.#refreshes.ask(this.#lay());
    this.#lay();
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

  /** @returns what has to be drawn again; `undefined`: everything */
  #lay(): LibraryNode[] | undefined {
    const { isTrusted } = vscode.workspace;
    return this.#rows.take(layoutTree(this.#model.folders, { isTrusted, piMissing: this.#setup.piMissing }));
  }

  async getChildren(parent?: LibraryNode): Promise<LibraryNode[]> {
    await this.#model.ready();
    return [...(parent ? this.#rows.childrenOf(parent) : this.#rows.roots)];
  }

  getTreeItem(node: LibraryNode): vscode.TreeItem {
    const id = idOf(node);
    switch (node.kind) {
      case 'project':
        return createProjectItem(node.folder.name, id);
      case 'group':
        return createGroupItem(node.facts, id);
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

  /** The row an action is meant for, as it is now: the one it came from, else the selected one. */
  meant(clicked: unknown): LibraryNode | undefined {
    const node = libraryNode(clicked) ?? this.view.selection[0];
    return node && this.#rows.current(node);
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}
