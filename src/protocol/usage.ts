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
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    cost: a.cost + b.cost,
  };
}

export function totalTokens(value: Usage): number {
  return value.input + value.output + value.cacheRead + value.cacheWrite;
}
