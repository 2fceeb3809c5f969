/**
 * Which failed runs a person has seen, remembered per workspace. Failures from before the workspace was first opened with
 * Pi Lanes count as seen: a new window must not begin with a list of old ones.
 */
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../client/index.ts';

const KEY = 'runs.seen';
const MAX_KEPT = 500;

interface Kept {
  /** Failures that ended before count as seen, in milliseconds. */
  since: number;
  /** End of each failed run that was seen, by run id. */
  seen: Record<string, number>;
}

export class SeenRuns implements vscode.Disposable {
  readonly #state: vscode.Memento;
  readonly #changed = new vscode.EventEmitter<void>();
  #kept: Kept;
  readonly onDidChange = this.#changed.event;

  constructor(state: vscode.Memento) {
    this.#state = state;
    const kept = state.get<Kept>(KEY);
    this.#kept = kept ?? { since: Date.now(), seen: {} };
    if (!kept) void state.update(KEY, this.#kept);
  }

  /** A question, a run that is cut off or does not answer, or a failure that nobody has looked at. */
  needsPerson = ({ state, view, runId }: RunSnapshot): boolean => {
    if (state === 'waiting' || state === 'lost' || state === 'unresponsive') return true;
    if (state !== 'failed') return false;
    return (view?.endedAt ?? 0) >= this.#kept.since && !(runId in this.#kept.seen);
  };

  /** Runs that have not failed are left out: what they need is not done by looking. */
  markSeen(snapshots: readonly RunSnapshot[]): void {
    const fresh = snapshots.filter((snapshot) => snapshot.state === 'failed' && this.needsPerson(snapshot));
    if (fresh.length === 0) return;
    const added = fresh.map(({ runId, view }) => [runId, view?.endedAt ?? 0] as const);
    this.#kept = shorten({ since: this.#kept.since, seen: { ...this.#kept.seen, ...Object.fromEntries(added) } });
    void this.#state.update(KEY, this.#kept);
    this.#changed.fire();
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

/** Forgets the oldest by moving `since` past them, so that they stay seen. */
function shorten({ since, seen }: Kept): Kept {
  const entries = Object.entries(seen).sort(([, a], [, b]) => b - a);
  const dropped = entries.slice(MAX_KEPT);
  const newest = dropped[0]?.[1];
  return {
    since: newest === undefined ? since : Math.max(since, newest + 1),
    seen: Object.fromEntries(entries.slice(0, MAX_KEPT)),
  };
}
