import type { Conductor, ConductorSettings } from './conductor.ts';
import type { Effect, Fact } from './effects.ts';
import type { HistoryEntry } from './history.ts';
import type { ExecutionJournal } from './journal.ts';

export interface ExecutionOptions {
  script: string;
  /** JSON text. */
  args?: string;
  state: boolean;
  seed: number;
  settings: ConductorSettings;
  /** Path or URL of `engine-worker.mjs`. */
  worker: string | URL;
  timeoutMs?: number;
  /** How much of it earlier processes have used up. */
  usedMs?: number;
  signal?: AbortSignal;
  /**
   * Carries out an effect. Its answer is plain JSON; a rejection is a failure. `ended` aborts when the answer no longer matters.
   * `again`: the history asks for it and has no answer, so an earlier process may have started it, and may not.
   */
  perform: (effect: Effect, ended: AbortSignal, again: boolean) => Promise<Fact>;
  /** Told after each step; what it throws changes nothing. */
  onProgress?: (conductor: Conductor) => void;
  journal?: ExecutionJournal;
  /**
   * What earlier processes wrote down, in their order. The script runs again and gets what it got, at the same times; nothing starts and
   * nothing is told until it stands where they left it. Then what was under way is performed `again`.
   *
   * Only effects are facts: what limits refused is decided anew. From the first step in which the limits of now decide otherwise, at
   * the latest from the last step when they have changed, the script goes on live, and that step and later ones are written anew.
   * There the calls need not be those of the history: a call whose key and fingerprint has a fact gets it, a new one starts, and
   * a child or a command that has a fact under another fingerprint ends the execution as diverged.
   */
  history?: Iterable<HistoryEntry>;
  now?: () => number;
}
