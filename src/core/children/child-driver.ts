/**
 * The one door to a child agent. Nothing above it knows whether a child is a process of its own, an external command line
 * or a session inside a shared host.
 */
import type {
  ChildPhase,
  ChildPlan,
  ErrorValue,
  PiInstallation,
  ProcessIdentity,
  TerminalState,
  TranscriptEntry,
  Usage,
} from '../../protocol/index.ts';
import type { ChildLayout } from '../projects/index.ts';

export interface ChildStart {
  runId: string;
  /** From 1. */
  index: number;
  plan: ChildPlan;
  cwd: string;
  trust: 'approve' | 'no-approve';
  agentDir: string;
  node: string;
  pi: PiInstallation;
  layout: ChildLayout;
  /** The environment the child inherits, already free of the editor's variables. */
  env: Record<string, string>;
}

export interface ChildProgress {
  phase: ChildPhase;
  tool: string | null;
  turns: number;
  toolCalls: number;
  usage: Usage;
}

/** What a running child reports, in order. */
export type ChildEvent =
  | { type: 'progress'; progress: ChildProgress }
  | { type: 'transcript'; entry: TranscriptEntry }
  /** A dialog was answered `cancelled`, because nobody was there to ask. */
  | { type: 'dialog'; method: string; title: string }
  /** A line on the protocol stream that is not protocol. */
  | { type: 'stdout'; text: string }
  | { type: 'stderr'; text: string };

export interface ChildReady {
  session: { id: string; file: string | null };
  model: string;
  thinking: string | null;
}

/** How the child's work came out, taken from its last assistant message and its exit. */
export interface ChildOutcome {
  state: TerminalState;
  stopReason: string | null;
  /** Text of the last assistant message; empty when there is none. */
  text: string;
  error: ErrorValue | null;
  progress: ChildProgress;
}

/** How the child's process ended. */
export interface ChildEnd {
  exitCode: number | null;
  signal: string | null;
  tree: 'gone' | 'unknown';
  note: string | null;
}

export interface Child {
  readonly process: ProcessIdentity;
  /** Waits until the child can take a prompt. Rejects with the reason when it cannot. */
  ready(): Promise<ChildReady>;
  /** Hands a prompt over; resolves when the child accepted it. */
  prompt(text: string): Promise<{ disposition: string }>;
  /** Resolves when the work is over: settled, exited, or failed beyond repair. Never rejects. */
  readonly settled: Promise<ChildOutcome>;
  /** Asks the child to stop what it is doing. False when it did not answer in time. */
  abort(): Promise<boolean>;
  /** Ends the process and everything it started. Idempotent. */
  end(): Promise<ChildEnd>;
}

export interface ChildDriver {
  /** Starts a child; rejects with `child_spawn_failed` when no process came to be. */
  start(start: ChildStart, onEvent: (event: ChildEvent) => void): Promise<Child>;
}
