import type { ErrorValue, RecoverOrder, RpcParams, RpcResult, TerminalState } from '../protocol/index.ts';

export interface RunResult {
  state: TerminalState;
  error: ErrorValue | null;
}

/** What a run does. The life of a runner is the same for every kind of run; the kinds stand behind this door. */
export interface RunWork {
  /** Works from the beginning to the end. The terminal event is left to the caller. Never rejects. */
  begin(): Promise<RunResult>;
  /** Puts in order what a lost runner left, and goes on or ends. */
  recover(order: RecoverOrder): Promise<RunResult>;
  /** Ends one child of several; the others go on. Answers when it has ended. */
  endChild?(reason: 'stop' | 'interrupt', child: number, params: RpcParams<'stop'>): Promise<RpcResult<'stop'>>;
  steer(params: RpcParams<'steer'>): Promise<RpcResult<'steer'>>;
  answer(params: RpcParams<'answer'>): Promise<RpcResult<'answer'>>;
  /** Nothing more can be said to anybody: what waited is settled. */
  close(): Promise<void>;
  /** Nothing is worked on any more: only the end is still being written and its processes ended. */
  readonly isEnding: boolean;
  /** Whatever is being ended is ended without any more patience. */
  hurry(): void;
  /** Ends every process that was started and is still there, without another word in the journal. */
  endLiving(): Promise<void>;
}
