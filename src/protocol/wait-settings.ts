import * as z from 'zod/mini';

/** Whether and how long children wait for runs that they start themselves. */
export const waitSettings = z.object({
  enabled: z.boolean(),
  /** Milliseconds, where a call names none. */
  defaultTimeoutMs: z.number(),
});
export type WaitSettings = z.infer<typeof waitSettings>;
