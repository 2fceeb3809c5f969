import type * as vscode from 'vscode';
import type { Toolbox } from '../client/index.ts';
import type { Owner } from '../protocol/index.ts';
import type { AgentChecks, WorkflowChecks } from './editor/index.ts';
import type { DraftStore } from './launch/draft.ts';
import type { TaskDocument } from './launch/task-document.ts';
import type { Workplaces } from './launch/workplaces.ts';
import type { AgentDocuments } from './library/agent-documents.ts';
import type { LibraryModel } from './library/library-model.ts';
import type { TranscriptPanels } from './panels/transcript/transcript-panels.ts';
import type { Readiness } from './readiness.ts';
import type { ActiveFilter } from './runs/active-filter.ts';
import type { RunsInHand } from './runs/runs-in-hand.ts';
import type { RunsModel } from './runs/runs-model.ts';
import type { SeenRuns } from './runs/seen-runs.ts';
import type { LibraryTree } from './trees/library/library-tree.ts';
import type { RunsTree } from './trees/runs/runs-tree.ts';
import type { PlanDocuments } from './workflows/plan-documents.ts';
import type { ResultDocuments } from './workflows/result-documents.ts';

/** What commands and views of this window share; made once in `activate`. */
export interface Services {
  readonly toolbox: Toolbox;
  readonly owner: Owner;
  readonly runs: RunsModel;
  readonly inHand: RunsInHand;
  readonly seen: SeenRuns;
  readonly filter: ActiveFilter;
  readonly tree: RunsTree;
  readonly drafts: DraftStore;
  readonly taskDocument: TaskDocument;
  readonly workplaces: Workplaces;
  readonly readiness: Readiness;
  readonly panels: TranscriptPanels;
  readonly agents: AgentChecks;
  readonly workflows: WorkflowChecks;
  readonly libraryModel: LibraryModel;
  readonly library: LibraryTree;
  readonly agentDocuments: AgentDocuments;
  readonly plans: PlanDocuments;
  readonly results: ResultDocuments;
  readonly log: vscode.LogOutputChannel;
  /** Remembered per workspace. */
  readonly state: vscode.Memento;
}
