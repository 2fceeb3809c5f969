/**
 * The one door to the engine that runs scripts. Nothing above it knows which engine stands behind it; everything that
 * crosses it is text. A realm holds one script and is thrown away with it.
 */

/** What a realm may use. */
export interface RealmLimits {
  /** Bytes of heap, array buffers included. */
  readonly heapBytes: number;
}

export interface RealmOptions {
  /**
   * Trusted code that runs first; its value is a function that takes the bridge and gives the table of functions that `call`
   * reaches. `bytecode` (base64) is the same for the engine that is shipped; another one compiles the text.
   */
  readonly prelude: { readonly text: string; readonly bytecode: string };
  readonly limits: RealmLimits;
  /** Milliseconds since 1970 that `Date` reads. */
  readonly now: () => number;
  /** Number from which `Math.random` is derived: a whole number, 0 … 2^48. */
  readonly seed: number;
  /** Asked about every 10,000 operations, the same number of times for the same program. `true` ends the script. */
  readonly interrupt: () => boolean;
  /** What the prelude calls for everything that the script asks of the outside. Never throws; answers with text. */
  readonly bridge: (operation: string, ...texts: string[]) => string;
}

export interface ScriptRealm {
  /**
   * Compiles the script as the body of an async function and gives it to the prelude's function `begin`. Nothing of it
   * runs before `call('start')`.
   * @throws ScriptSyntaxError
   */
  load(script: string): void;
  /** Calls a function of the prelude with texts. @throws EngineFailure */
  call(name: string, ...texts: string[]): void;
  /** Runs what is waiting to run, until nothing is left. @throws EngineFailure */
  drain(): void;
  /** Bytes of heap in use. */
  readonly heapBytes: number;
  dispose(): void;
}

export type OpenRealm = (options: RealmOptions) => Promise<ScriptRealm>;

/** Why a realm cannot go on: the script was interrupted, or used up its heap, or the engine failed. The realm must be disposed. */
export class EngineFailure extends Error {
  readonly reason: 'interrupted' | 'memory' | 'engine';

  constructor(reason: EngineFailure['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The engine does not understand the script. `line` and `column` count from 1. */
export class ScriptSyntaxError extends Error {
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(message: string, line?: number, column?: number) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

/** The name that the frames of the script carry in stacks. */
export const SCRIPT_NAME = 'workflow.js';
