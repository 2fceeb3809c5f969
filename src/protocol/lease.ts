/** The owner written into a lock file. A run's lease also carries the address and token of its runner. */
import * as z from 'zod/mini';
import { processIdentity } from './events.ts';

export const lockOwner = z.object({
  version: z.literal(1),
  process: processIdentity,
  token: z.string(),
  epoch: z.number().check(z.minimum(1)),
  acquiredAt: z.number(),
  socket: z.optional(z.string()),
  purpose: z.string(),
  released: z.optional(z.boolean()),
});
export type LockOwner = z.infer<typeof lockOwner>;

export type LockState = 'missing' | 'held' | 'stale' | 'orphaned' | 'malformed' | 'unavailable';
