/** Everything else. Errors that are not ours are `internal` with the words they came with. */
import type { ErrorText } from './error-text.ts';

export const INTERNAL = {
  'internal:runtime': { message: 'The runtime could not be copied to {folder}: {reason}.' },
} as const satisfies Record<string, ErrorText>;
