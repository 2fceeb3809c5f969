/** A run as one client sees it at one moment: the fold of its journal, and what is proven about its runner. */
import { inspectLock } from '../core/locks/index.ts';
import { liveness } from '../core/processes/index.ts';
import { runLayout } from '../core/projects/index.ts';
import { describePrinted, inspectFinalStatus, RunReader, runnerLogTail } from '../core/runs/index.ts';
import {
  describeError,
  type ErrorValue,
  isTerminal,
  type ProcessIdentity,
  type RunState,
  type RunView,
  toErrorValue,
  withDetail,
} from '../protocol/index.ts';
import { answers } from './connect.ts';

export interface RunSnapshot {
  runId: string;
  directory: string;
  state: RunState;
  /** Null when nothing could be read: see `error`. */
  view: RunView | null;
  /** Why the state is `unknown`, or why the run failed. */
  error: ErrorValue | null;
  /** Journal records that could not be read. */
  skipped: number;
  /** What else of it is damaged, naming the file; the journal was used instead. */
  damage?: string;
}

/** A run that was created this recently may not have its lease yet. */
const LEASE_GRACE_MS = 1000;

/** A probe of the runner is not repeated within this time by one follower. */
const PROBE_EVERY_MS = 5000;

function probeRunner(directory: string): Promise<boolean> {
  return answers(directory, { kind: 'probe', version: PI_LANES_VERSION });
}

/**
 * The state a person is shown. A run that is not terminal is `lost` when its runner is proven gone, `unresponsive` when it
 * holds the run and does not answer; `unknown` when that cannot be told. Nothing stored is believed about liveness.
 *
 * @param probe asks a living runner whether it answers; absent: it is asked
 */
export async function deriveState(
  directory: string,
  view: RunView,
  probe: () => Promise<boolean> = () => probeRunner(directory),
): Promise<RunState> {
  if (isTerminal(view.state)) return view.state;
  const lease = await inspectLock(runLayout(directory).lease);
  switch (lease.state) {
    case 'held':
      // A lease without an address is being written; nobody can be asked yet.
      return lease.owner?.socket === undefined || (await probe()) ? view.state : 'unresponsive';
    case 'stale':
      return 'lost';
    case 'missing':
      if (view.runner) return withoutLease(view.runner);
      return Math.abs(Date.now() - view.createdAt) < LEASE_GRACE_MS ? view.state : 'lost';
    case 'orphaned':
      // Whether its process lives cannot be told here; one that answers with the token of the lease does.
      return lease.owner?.socket !== undefined && (await probe()) ? view.state : 'unknown';
    case 'malformed':
      // A runner that lives writes it again.
      return view.runner ? withoutLease(view.runner) : 'unknown';
    default:
      return 'unknown';
  }
}

/** A lease file can be removed by mistake: a runner that lives writes it again, and cannot be asked before that. */
async function withoutLease(runner: ProcessIdentity): Promise<RunState> {
  const state = await liveness(runner);
  return state === 'gone' ? 'lost' : state === 'alive' ? 'unresponsive' : 'unknown';
}

/** What a person is told about a state that the journal does not explain. */
function errorOf(state: RunState, printed: string): ErrorValue | null {
  if (state === 'lost') {
    return withDetail(describeError('run_lost:shown'), describePrinted(printed));
  }
  if (state === 'unresponsive') {
    return describeError('runner_unreachable:silent');
  }
  if (state === 'unknown') {
    return describeError('runner_unreachable:unproven');
  }
  return null;
}

/** Follows one run. */
export class RunFollower {
  readonly runId: string;
  readonly directory: string;
  #reader: RunReader | undefined;
  #looking: Promise<RunSnapshot | undefined> = Promise.resolve(undefined);
  #probed = { at: Number.NEGATIVE_INFINITY, answered: true };

  constructor(runId: string, directory: string) {
    this.runId = runId;
    this.directory = directory;
  }

  async #probe(): Promise<boolean> {
    const now = performance.now();
    // An answer is good for a while; silence is asked about again at once.
    if (this.#probed.answered && now - this.#probed.at < PROBE_EVERY_MS) return true;
    this.#probed = { at: now, answered: await probeRunner(this.directory) };
    return this.#probed.answered;
  }

  /** Never rejects: a run that cannot be read is a snapshot that says so. One call reads after the other. */
  snapshot(): Promise<RunSnapshot> {
    const look = this.#looking.then(() => this.#look());
    this.#looking = look;
    return look;
  }

  async #look(): Promise<RunSnapshot> {
    const base = { runId: this.runId, directory: this.directory };
    try {
      this.#reader ??= await RunReader.open(this.directory);
      await this.#reader.refresh();
      let state = await deriveState(this.directory, this.#reader.view, () => this.#probe());
      // The runner may have written its end between the two looks.
      if (state === 'lost' || state === 'unresponsive') {
        await this.#reader.refresh();
        state = await deriveState(this.directory, this.#reader.view, () => this.#probe());
      }
      const { view, skipped } = this.#reader;
      const printed = state === 'lost' ? await runnerLogTail(this.directory, view.epoch) : '';
      return { ...base, state, view, error: view.error ?? errorOf(state, printed), skipped: skipped.length };
    } catch (error) {
      return { ...base, state: 'unknown', view: null, error: toErrorValue(error), skipped: 0 };
    }
  }
}

/** A run that is not watched: its final status when it has one, else its journal. */
export async function readSnapshot(runId: string, directory: string): Promise<RunSnapshot> {
  const { view, error } = await inspectFinalStatus(directory);
  if (view && isTerminal(view.state)) {
    return { runId, directory, state: view.state, view, error: view.error, skipped: 0 };
  }
  const snapshot = await new RunFollower(runId, directory).snapshot();
  return error && snapshot.view ? { ...snapshot, damage: error.message } : snapshot;
}
