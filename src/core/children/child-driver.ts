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
  QuestionAnswer,
  TerminalState,
  TranscriptEntry,
  Usage,
} from '../../protocol/index.ts';
import type { ChildLayout } from '../projects/index.ts';

/** The conversation a child begins with. `fork`: a copy of the file, moved to the child's folder. */
export type SessionStart = { kind: 'new' } | { kind: 'continue'; file: string } | { kind: 'fork'; file: string };

export interface ChildStart {
  runId: string;
  /** From 1. */
  index: number;
  plan: ChildPlan;
  session: SessionStart;
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

export interface ChildQuestion {
  id: string;
  method: string;
  title: string;
  message: string;
  options: string[];
  /** Milliseconds after which the child goes on by itself; absent: it waits. */
  timeoutMs?: number;
}

/** What a running child reports, in order. */
export type ChildEvent =
  | { type: 'progress'; progress: ChildProgress }
  | { type: 'transcript'; entry: TranscriptEntry }
  /** A dialog that waits for `answer`. */
  | { type: 'question'; question: ChildQuestion }
  | { type: 'tool.start'; id: string; name: string }
  | { type: 'tool.end'; id: string; name: string; isError: boolean }
  /** Something was said to the child and stands in its conversation now; `text` as it was sent. The prompt is not told. */
  | { type: 'heard'; text: string }
  /** The model is being asked; everything heard so far is in front of it. */
  | { type: 'model-asked' }
  /** Its provider answered 429; see `ChildReport`. */
  | { type: 'rate-limited'; provider: string; retryAfterMs: number | null }
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
  /** The newest text with something in it: what is kept of work that was cut short between two messages. */
  lastWords: string;
  error: ErrorValue | null;
  progress: ChildProgress;
  /** The process went away by itself before its work was over. */
  exited: boolean;
  /** Nothing at all had been heard from the conversation. */
  inactive: boolean;
  /** The newest structured answer that was refused; absent: none was. */
  refusedAnswer?: RefusedAnswer;
  /** A call was refused because the tool budget was used up. */
  toolBudgetBlocked?: true;
}

/** A value that does not fit the output schema, and what the child was told about it. */
export interface RefusedAnswer {
  value: unknown;
  reason: string;
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
  /** Hands a prompt over; resolves when the child accepted it. Begins a new piece of work: see `settled`. */
  prompt(text: string): Promise<{ disposition: string }>;
  /**
   * Puts a message into the queue of a working child. Rejects when the child refuses it. One that finds the child idle begins
   * a new piece of work: then `settled` is another promise when this resolves.
   */
  steer(text: string, mode: 'steer' | 'follow-up'): Promise<{ disposition: string }>;
  /** Answers a question. The child takes it without a receipt. */
  answer(questionId: string, answer: QuestionAnswer): void;
  /** Resolves when the present work is over: settled, exited, or failed beyond repair. Never rejects. */
  readonly settled: Promise<ChildOutcome>;
  /** Asks the child to stop what it is doing, queued messages included. False when it did not answer in time. */
  abort(): Promise<boolean>;
  /** Ends the process and everything it started. Idempotent. */
  end(): Promise<ChildEnd>;
  /** Ends it as well, without giving it any more time to end by itself. An end that is under way is hurried. */
  hurry(): Promise<ChildEnd>;
}

export interface ChildDriver {
  /** Starts a child; rejects with `child_spawn_failed` when no process came to be. */
  start(start: ChildStart, onEvent: (event: ChildEvent) => void): Promise<Child>;
}
