/** Limits as they are typed: which are taken, what they mean, and how the others are refused. */
import { describe, expect, it } from 'vitest';
import { readLimits } from '../../src/cli/workflow-limits.ts';
import { toErrorValue, usageBudget } from '../../src/protocol/index.ts';

const none = { 'max-spawns': undefined, concurrency: undefined, 'max-tokens': undefined, 'max-cost': undefined };

type Option = keyof typeof none;

function refusal(option: Option, value: string) {
  try {
    readLimits({ ...none, [option]: value });
  } catch (error) {
    const { code, message, hint } = toErrorValue(error);
    return { code, message, hint };
  }
  throw new Error(`--${option} ${value} was taken`);
}

describe('a limit', () => {
  it.each<[Option, string, object]>([
    ['max-spawns', '1', { maxSubagentSpawnsPerRun: 1 }],
    ['concurrency', '999999', { globalConcurrencyLimit: 999_999 }],
    ['max-tokens', '1', { usageBudget: { tokens: { hard: 1 } } }],
    ['max-cost', '0.5', { usageBudget: { costUsd: { hard: 0.5 } } }],
  ])('--%s %s', (option, value, limits) => {
    expect(readLimits({ ...none, [option]: value })).toEqual(limits);
  });

  it.each<[Option, string, object]>([
    ['max-tokens', '0', { usageBudget: { tokens: null } }],
    ['max-cost', '0', { usageBudget: { costUsd: null } }],
    ['max-cost', '0.00', { usageBudget: { costUsd: null } }],
  ])('--%s %s is none', (option, value, limits) => {
    expect(readLimits({ ...none, [option]: value })).toEqual(limits);
  });

  const wrong = ['-1', '-0', 'NaN', 'Infinity', '1e3', '0x10', '', ' ', '1,5', 'many'];
  const rules: Record<Option, RegExp> = {
    'max-spawns': /whole number from 1 to 999999/,
    concurrency: /whole number from 1 to 999999/,
    'max-tokens': /whole number of tokens, or 0 for no limit/,
    'max-cost': /number of US dollars, .*or 0 for no limit/,
  };

  it.each([
    ...(['max-tokens', 'max-cost'] as const).flatMap((option) => wrong.map((value) => [option, value] as const)),
    ...(['max-spawns', 'concurrency'] as const).flatMap((option) =>
      [...wrong, '0', '1.5', '1000000'].map((value) => [option, value] as const),
    ),
    ['max-tokens', '1.5'] as const,
  ])('--%s "%s" is refused with option, value and rule', (option, value) => {
    expect(refusal(option, value)).toEqual({
      code: 'launch_invalid',
      message: `--${option} is "${value}".`,
      hint: expect.stringMatching(rules[option]),
    });
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('of %s in a budget is refused by name', (hard) => {
    for (const metric of ['tokens', 'costUsd'] as const) {
      const { error } = usageBudget.safeParse({ [metric]: { hard } });
      expect(error?.issues[0]?.path.join('.')).toBe(`${metric}.hard`);
    }
  });
});
