/** The row of a worktree, below the child it was made for. What the ledger and the disk say is read when the row is asked for. */
import type * as vscode from 'vscode';
import { type RunSnapshot, type WorktreeFate, worktreeFate } from '../../../../client/index.ts';
import type { WorktreeView } from '../../../../protocol/index.ts';
import { findChild } from '../../../runs/child-state.ts';
import { createWorktreeItem, createWorktreeTooltip } from './worktree-item.ts';

export interface WorktreeNode {
  kind: 'worktree';
  runId: string;
  child: number;
}

export class WorktreeRows {
  readonly #find: (runId: string) => RunSnapshot | undefined;
  readonly #node: (key: string, make: () => WorktreeNode) => WorktreeNode;
  /** What was read for the rows that were drawn. */
  readonly #fates = new WeakMap<WorktreeNode, WorktreeFate>();

  /** @param node gives the one object by which the view knows a row */
  constructor(
    find: (runId: string) => RunSnapshot | undefined,
    node: (key: string, make: () => WorktreeNode) => WorktreeNode,
  ) {
    this.#find = find;
    this.#node = node;
  }

  /** @param child its number; `undefined`: there is none yet */
  async children(runId: string, child: number | undefined): Promise<WorktreeNode[]> {
    const snapshot = this.#find(runId);
    const worktree = child === undefined ? undefined : snapshot && findChild(snapshot, child)?.worktree;
    if (child === undefined || !snapshot || !worktree) return [];
    const node = this.#node(`${runId} worktree ${child}`, () => ({ kind: 'worktree', runId, child }));
    this.#fates.set(node, await worktreeFate(snapshot.directory, worktree.of ?? { runId, child }, worktree.path));
    return [node];
  }

  find({ runId, child }: WorktreeNode): WorktreeView | undefined {
    const snapshot = this.#find(runId);
    return snapshot && findChild(snapshot, child)?.worktree;
  }

  item(node: WorktreeNode): vscode.TreeItem | undefined {
    const shown = this.#shown(node);
    return shown && createWorktreeItem(shown, `${node.runId} worktree ${node.child}`);
  }

  tooltip(node: WorktreeNode): vscode.MarkdownString | undefined {
    const shown = this.#shown(node);
    return shown && createWorktreeTooltip(shown);
  }

  #shown(node: WorktreeNode) {
    const snapshot = this.#find(node.runId);
    const child = snapshot && findChild(snapshot, node.child);
    const fate = this.#fates.get(node);
    if (!snapshot || !child?.worktree || !fate) return undefined;
    return { worktree: child.worktree, fate, directory: snapshot.directory, isWorking: child.endedAt === null };
  }
}
