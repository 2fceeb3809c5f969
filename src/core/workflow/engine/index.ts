/** Running workflow scripts. What runs in the worker is in `worker.ts`. */
export type { ErrorKind, WorkflowError } from './calls.ts';
export { type ChildView, isObject, readHostResult } from './child-result.ts';
export type { WorkflowResult } from './conclusion.ts';
export type { Capabilities, Conductor, ConsoleEntry, Effect, Fact, TraceRow } from './conductor.ts';
export { messageOf, runExecution } from './execution.ts';
export { DEFAULT_CONCURRENCY } from './limits.ts';
export { toJsonText } from './prelude/boundary.ts';
export type { ExecutionRecord } from './record.ts';
export { replayExecution } from './replay.ts';
