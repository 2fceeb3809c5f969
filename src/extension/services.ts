import type * as vscode from 'vscode';
import type { Toolbox } from '../client/index.ts';
import type { Owner } from '../protocol/index.ts';
import type { RunsModel } from './runs-model.ts';
import type { RunsTree } from './trees/runs-tree.ts';

/** What commands and views of this window share; made once in `activate`. */
export interface Services {
  readonly toolbox: Toolbox;
  readonly owner: Owner;
  readonly runs: RunsModel;
  readonly tree: RunsTree;
  readonly log: vscode.LogOutputChannel;
  /** Remembered per workspace. */
  readonly state: vscode.Memento;
}
