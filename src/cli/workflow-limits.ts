/** Limits of a workflow as the command line takes them. */
import { lanesError } from '../protocol/index.ts';

export interface LimitOptions {
  'max-spawns': string | undefined;
  concurrency: string | undefined;
  'max-tokens': string | undefined;
  'max-cost': string | undefined;
}

export interface GivenLimits {
  maxSubagentSpawnsPerRun?: number;
  globalConcurrencyLimit?: number;
  /** `null`: no limit. Absent: none of them was named. */
  usageBudget?: { tokens?: { hard: number } | null; costUsd?: { hard: number } | null };
}

/** Throws `launch_invalid` with the option, its value and the rule. */
export function readLimits(options: LimitOptions): GivenLimits {
  const spawns = options['max-spawns'];
  const { concurrency } = options;
  const tokens = amount('--max-tokens', options['max-tokens'], /^(?:0|[1-9]\d{0,14})$/, 'tokens');
  const cost = amount('--max-cost', options['max-cost'], /^\d{1,9}(?:\.\d+)?$/, 'dollars');
  return {
    ...(spawns === undefined ? {} : { maxSubagentSpawnsPerRun: count('--max-spawns', spawns) }),
    ...(concurrency === undefined ? {} : { globalConcurrencyLimit: count('--concurrency', concurrency) }),
    ...(tokens === undefined && cost === undefined
      ? {}
      : {
          usageBudget: {
            ...(tokens === undefined ? {} : { tokens }),
            ...(cost === undefined ? {} : { costUsd: cost }),
          },
        }),
  };
}

function count(option: string, text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw lanesError('launch_invalid:count', { option, value: text });
  return Number(text);
}

function amount(option: string, text: string | undefined, rule: RegExp, what: 'tokens' | 'dollars') {
  if (text === undefined) return undefined;
  if (!rule.test(text)) throw lanesError(`launch_invalid:${what}`, { option, value: text });
  const hard = Number(text);
  return hard === 0 ? null : { hard };
}
