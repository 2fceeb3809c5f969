/** Higher limits for a workflow that has ended by one: what is proposed, what is taken, what is refused. */
import { describe, expect, it } from 'vitest';
import type { ReachedLimit } from '../../../src/client/index.ts';
import { proposedLimit, readLimit, withLimit } from '../../../src/extension/workflows/limit-value.ts';

const time: ReachedLimit = { kind: 'time', limit: 480_000, used: 480_012 };
const spawns: ReachedLimit = { kind: 'spawns', limit: 3, used: 3, wanted: 8 };
const tokens: ReachedLimit = { kind: 'tokens', limit: 1000, used: 1234 };
const costUsd: ReachedLimit = { kind: 'costUsd', limit: 0.1, used: 0.1234 };
const all = [time, spawns, tokens, costUsd];

describe('a higher limit', () => {
  it('is proposed so that it is taken', () => {
    expect(all.map(proposedLimit)).toEqual(['16.0004', '8', '2468', '0.2468']);
    for (const limit of all) expect(readLimit(proposedLimit(limit), limit)).toBeGreaterThan(limit.used);
  });

  it.each<[ReachedLimit, string, number | null | undefined]>([
    [time, '9', 540_000],
    [time, '8.001', 480_060],
    [time, '0', null],
    [time, '8', undefined],
    [time, 'soon', undefined],
    [time, '', undefined],
    [time, '99999999', undefined],
    [spawns, '8', 8],
    [spawns, '7', undefined],
    [spawns, '9.5', undefined],
    [spawns, '-9', undefined],
    [tokens, '1235', 1235],
    [tokens, '1234', undefined],
    [costUsd, '0.13', 0.13],
    [costUsd, '0.1234', undefined],
    [costUsd, '0', undefined],
  ])('%j: %s', (limit, text, value) => {
    expect(readLimit(text, limit)).toBe(value);
  });

  it('leaves what else there is as it was', () => {
    const budget = { tokens: { soft: 500, hard: 1000 }, costUsd: { hard: 0.1 } };
    let bounds = withLimit({}, time, null, budget);
    bounds = withLimit(bounds, tokens, 2000, budget);
    bounds = withLimit(bounds, costUsd, 0.2, budget);
    expect(withLimit(bounds, spawns, 9, budget)).toEqual({
      timeoutMs: null,
      maxSubagentSpawnsPerRun: 9,
      usageBudget: { tokens: { soft: 500, hard: 2000 }, costUsd: { hard: 0.2 } },
    });
  });
});
