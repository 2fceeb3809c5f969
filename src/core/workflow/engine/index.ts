/** Running workflow scripts. What runs in the worker is in `worker.ts`. */
export type { ErrorKind, WorkflowError } from './calls.ts';
export { type ChildView, isObject, readHostResult } from './child-result.ts';
export type { WorkflowResult } from './conclusion.ts';
export type { Capabilities, Conductor } from './conductor.ts';
export type { AskedFact, Effect, Fact } from './effects.ts';
export { runExecution } from './execution.ts';
export type { ExecutionOptions } from './execution-options.ts';
export type { HistoryEntry } from './history.ts';
export type { DeliveredStep, ExecutionJournal, SteppedStep } from './journal.ts';
export { DEFAULT_CONCURRENCY } from './limits.ts';
export { messageOf } from './message-of.ts';
export { toJsonText } from './prelude/boundary.ts';
export type { ExecutionRecord } from './record.ts';
export { replayExecution } from './replay.ts';
export type { ConsoleEntry, TraceRow } from './trace.ts';
