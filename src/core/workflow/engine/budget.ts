/** What all children of a workflow may use together. Counted when they are over; running ones are never stopped for it. */
import type { UsageBudget } from '../../../protocol/index.ts';
import { isObject } from './child-result.ts';

export interface Used {
  /** Input and output. */
  tokens: number;
  costUsd: number;
}

/** What a child reported. */
export function totalOf(usage: unknown): Used {
  if (!isObject(usage)) return { tokens: 0, costUsd: 0 };
  const number = (name: string) => {
    const value = usage[name];
    return typeof value === 'number' && value > 0 ? value : 0;
  };
  return { tokens: number('input') + number('output'), costUsd: number('cost') };
}

/** Why nothing more may start, if so. */
export function usageReason(budget: UsageBudget | undefined, used: Used): string | undefined {
  for (const [name, unit] of [
    ['tokens', 'tokens'],
    ['costUsd', 'US dollars'],
  ] as const) {
    const hard = budget?.[name]?.hard;
    if (hard !== undefined && used[name] >= hard) {
      return `The usage budget is exhausted: ${used[name]} of ${hard} ${unit} are used. The child was not started; raise usageBudget.${name}.hard to go on.`;
    }
  }
  return undefined;
}
