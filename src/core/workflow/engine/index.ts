/** Running workflow scripts. What runs in the worker is in `worker.ts`. */
export type { ErrorKind, WorkflowError } from './calls.ts';
export { type ChildView, isObject, readHostResult } from './child-result.ts';
export type { WorkflowResult } from './conclusion.ts';
export type { AskedFact, Capabilities, Conductor, ConsoleEntry, Effect, Fact, TraceRow } from './conductor.ts';
export { runExecution } from './execution.ts';
export type { ExecutionOptions } from './execution-options.ts';
export type { HistoryEntry } from './history.ts';
export type { DeliveredStep, ExecutionJournal, SteppedStep } from './journal.ts';
export { DEFAULT_CONCURRENCY } from './limits.ts';
export { messageOf } from './message-of.ts';
export { toJsonText } from './prelude/boundary.ts';
export type { ExecutionRecord } from './record.ts';
export { replayExecution } from './replay.ts';
