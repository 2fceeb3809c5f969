/** The Runs view: active runs, then recent ones. Only the row of a run that changed is asked for again. */
import * as vscode from 'vscode';
import { COMMANDS, ITEM, RUNS_VIEW } from '../command-ids.ts';
import type { RunsModel } from '../runs-model.ts';
import { createRunItem, createTooltip } from './run-item.ts';

export type RunNode = { kind: 'group'; group: 'active' | 'recent' } | { kind: 'run'; runId: string } | { kind: 'more' };

const TICK_MS = 1000;

export class RunsTree implements vscode.TreeDataProvider<RunNode>, vscode.Disposable {
  readonly #model: RunsModel;
  readonly #changed = new vscode.EventEmitter<RunNode | undefined>();
  readonly #disposables: vscode.Disposable[] = [];
  readonly #groups = {
    active: { kind: 'group', group: 'active' },
    recent: { kind: 'group', group: 'recent' },
  } as const;
  /** The view knows nodes by identity: one object per run. */
  readonly #nodes = new Map<string, RunNode>();
  readonly #more: RunNode = { kind: 'more' };
  readonly view: vscode.TreeView<RunNode>;
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(model: RunsModel) {
    this.#model = model;
    this.view = vscode.window.createTreeView<RunNode>(RUNS_VIEW, { treeDataProvider: this, showCollapseAll: true });
    this.#disposables.push(
      this.view,
      this.#changed,
      model.onDidChange((runId) => this.#changed.fire(runId === undefined ? undefined : this.#node(runId))),
    );
    // Elapsed times move on by themselves, and only while somebody looks.
    const timer = setInterval(() => {
      if (!this.view.visible) return;
      for (const snapshot of this.#model.active().slice(0, 20)) {
        if (snapshot.state === 'running' || snapshot.state === 'queued') this.#changed.fire(this.#node(snapshot.runId));
      }
    }, TICK_MS);
    this.#disposables.push({ dispose: () => clearInterval(timer) });
  }

  #node(runId: string): RunNode {
    const known = this.#nodes.get(runId);
    if (known) return known;
    const node: RunNode = { kind: 'run', runId };
    this.#nodes.set(runId, node);
    return node;
  }

  async getChildren(parent?: RunNode): Promise<RunNode[]> {
    await this.#model.ready();
    if (!parent) {
      const groups: RunNode[] = [];
      if (this.#model.active().length > 0) groups.push(this.#groups.active);
      if (this.#model.recent().length > 0) groups.push(this.#groups.recent);
      return groups;
    }
    if (parent.kind !== 'group') return [];
    const runs = parent.group === 'active' ? this.#model.active() : this.#model.recent();
    const nodes = runs.map((snapshot) => this.#node(snapshot.runId));
    return parent.group === 'recent' && this.#model.hasMore ? [...nodes, this.#more] : nodes;
  }

  getParent(node: RunNode): RunNode | undefined {
    if (node.kind === 'group') return undefined;
    const active = node.kind === 'run' && this.#model.active().some((snapshot) => snapshot.runId === node.runId);
    return active ? this.#groups.active : this.#groups.recent;
  }

  getTreeItem(node: RunNode): vscode.TreeItem {
    if (node.kind === 'group') {
      const active = node.group === 'active';
      const item = new vscode.TreeItem(
        active ? vscode.l10n.t('Active') : vscode.l10n.t('Recent'),
        vscode.TreeItemCollapsibleState.Expanded,
      );
      item.id = node.group;
      item.contextValue = ITEM.group;
      if (active) item.description = String(this.#model.active().length);
      return item;
    }
    if (node.kind === 'more') {
      const item = new vscode.TreeItem(vscode.l10n.t('Show Older Runs…'));
      item.id = 'more';
      item.iconPath = new vscode.ThemeIcon('ellipsis');
      item.contextValue = ITEM.more;
      item.command = { command: COMMANDS.showMoreRuns, title: vscode.l10n.t('Show Older Runs…') };
      return item;
    }
    const snapshot = this.#model.get(node.runId);
    return snapshot ? createRunItem(snapshot, Date.now()) : new vscode.TreeItem(node.runId);
  }

  resolveTreeItem(item: vscode.TreeItem, node: RunNode): vscode.TreeItem {
    const snapshot = node.kind === 'run' ? this.#model.get(node.runId) : undefined;
    if (snapshot) item.tooltip = createTooltip(snapshot, Date.now());
    return item;
  }

  /** Selects a run's row, if the view is open. */
  async reveal(runId: string): Promise<void> {
    if (this.view.visible && this.#model.get(runId))
      await this.view.reveal(this.#node(runId), { select: true, focus: false });
  }

  /** The run an action is meant for: the row it came from, else the selected row. */
  runIdOf(node: unknown): string | undefined {
    const given = typeof node === 'object' && node !== null && 'runId' in node ? node.runId : undefined;
    if (typeof given === 'string') return given;
    const selected = this.view.selection[0];
    return selected?.kind === 'run' ? selected.runId : undefined;
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}
