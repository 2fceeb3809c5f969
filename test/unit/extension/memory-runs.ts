import type { RunSnapshot } from '../../../src/client/index.ts';
import type { ShownProject, ShownRun } from '../../../src/extension/runs/runs-layout.ts';
import type { RunsChange, RunsProblem } from '../../../src/extension/runs/runs-model.ts';
import * as editor from './vscode-stand-in.ts';

/** Runs in memory, in the place of the model. */
export class MemoryRuns {
  readonly #changed = new editor.EventEmitter<RunsChange>();
  readonly onDidChange = this.#changed.event;
  runs = new Map<string, ShownRun>();
  shownProjects: ShownProject[] = [{ name: 'one', title: 'One', hasMore: false }];
  problemList: RunsProblem[] = [];

  ready = async () => undefined;
  get = (runId: string) => this.runs.get(runId)?.snapshot;
  all = () => [...this.runs.values()];
  projects = () => this.shownProjects;
  problems = () => this.problemList;
  projectTitle = () => 'One';
  active = () => this.all().map(({ snapshot }) => snapshot);

  put(snapshot: RunSnapshot, project = 'one'): void {
    const before = this.runs.has(snapshot.runId);
    this.runs.set(snapshot.runId, { snapshot, project });
    this.#changed.fire(before ? snapshot.runId : undefined);
  }
}
