/** What the author of a workflow says beforehand that it will do. For people only: it changes nothing about how the script is run. */
import * as z from 'zod/mini';
import { canonicalJson } from './canonical-json.ts';
import { workflowKey } from './workflow.ts';

const MAX_BYTES = 16 * 1024;

/** One line: whatever white space and control characters it had. */
const words = z
  .string()
  .check(z.overwrite((text) => text.replace(/[\p{Cc}\s]+/gu, ' ').trim()))
  .check(z.minLength(1), z.maxLength(256));

export const preflightLane = z.strictObject({
  key: workflowKey,
  mode: z.optional(z.enum(['mutation', 'review', 'scout', 'gate'])),
  decision: z.optional(words),
  claims: z.optional(z.array(words).check(z.maxLength(16))),
  expectedOutput: z.optional(words),
  independence: z.optional(words),
});

export const preflight = z
  .strictObject({
    version: z.literal(1),
    /** Whether the lanes are all there will be. */
    coverage: z._default(z.enum(['complete', 'partial']), 'partial'),
    lanes: z.array(preflightLane).check(
      z.maxLength(64),
      z.refine((lanes) => new Set(lanes.map(({ key }) => key)).size === lanes.length, 'each key may stand once'),
    ),
  })
  .check(
    z.refine(
      (value) => new TextEncoder().encode(canonicalJson(value)).length <= MAX_BYTES,
      `must have at most ${MAX_BYTES} bytes as JSON`,
    ),
  );
export type Preflight = z.infer<typeof preflight>;

export const MAX_PREFLIGHT_WARNINGS = 16;
