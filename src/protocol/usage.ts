/** Token and cost totals. Tokens are counts; `cost` is in the currency of Pi's model table (US dollars). */
import * as z from 'zod/mini';

export const usage = z.object({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  cost: z.number(),
});
export type Usage = z.infer<typeof usage>;

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: sum(a.input, b.input),
    output: sum(a.output, b.output),
    cacheRead: sum(a.cacheRead, b.cacheRead),
    cacheWrite: sum(a.cacheWrite, b.cacheWrite),
    cost: sum(a.cost, b.cost),
  };
}

/** Infinity cannot be written as JSON. */
function sum(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

export function totalTokens(value: Usage): number {
  return value.input + value.output + value.cacheRead + value.cacheWrite;
}
