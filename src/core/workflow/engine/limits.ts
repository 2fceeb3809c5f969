/** What one workflow may use up. Each has a message that names it; none can be reached by work that makes sense. */

/** Heap of the script, array buffers included. */
export const HEAP_BYTES = 64 * 1024 * 1024;
/** Calls that start something or ask for something, over the whole workflow. Bounds the trace. */
export const MAX_OPERATIONS = 20_000;
/** Calls that wait for an answer at the same time. */
export const MAX_PENDING = 5_000;
export const MAX_HOST_CALLS = 32;
export const MAX_EMITS = 100_000;
/** Characters of JSON of one emitted value, and of all of them. */
export const MAX_EMIT_CHARS = 1024 * 1024;
export const MAX_EMITS_CHARS = 16 * 1024 * 1024;
/** Characters of the message that a script fails with, and of its frames. */
export const MAX_ERROR_CHARS = 16_384;
/** What comes after is dropped, and the last entry says so. */
export const MAX_CONSOLE_ENTRIES = 10_000;
export const MAX_CONSOLE_CHARS = 1024 * 1024;
/** Bytes of all state of a workflow as JSON; one value can have no more. */
export const MAX_STATE_BYTES = 262_144;
/** Polls of the interrupt handler, each about 10,000 operations, in one step: about a minute of computing. */
export const STEP_FUEL = 600_000;
/** How long the owner waits, after a limit, for a worker that cannot be interrupted. */
export const TERMINATE_AFTER_MS = 250;
/** Simultaneous children when nobody says otherwise. */
export const DEFAULT_CONCURRENCY = 20;
