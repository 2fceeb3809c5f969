import { describe, expect, it } from 'vitest';
import { isFiltering, matchesFilter, NO_FILTER } from '../../../src/extension/runs/run-filter.ts';
import { aSnapshot } from './snapshots.ts';

const run = aSnapshot('failed', { task: 'Répare the FENCE behind the mill' });
const matches = (text: string) => matchesFilter({ text, states: [] }, run, 'harbour');

describe('a filter', () => {
  it('without words and states lets everything through', () => {
    expect(isFiltering(NO_FILTER)).toBe(false);
    expect(isFiltering({ text: '  ', states: [] })).toBe(false);
    expect(matchesFilter(NO_FILTER, run, '')).toBe(true);
  });

  it.each(['fence', 'repare', 'mill fence', 'worker', 'scripted', 'harbour', 'failed', run.runId, '  fence  '])(
    'finds by "%s"',
    (text) => expect(matches(text)).toBe(true),
  );

  it.each(['fence barn', 'oracle', 'running', '.*'])('does not find by "%s"', (text) =>
    expect(matches(text)).toBe(false),
  );

  it('of states looks at what the client has derived', () => {
    expect(matchesFilter({ text: '', states: ['lost', 'failed'] }, run, '')).toBe(true);
    expect(matchesFilter({ text: '', states: ['running'] }, aSnapshot('lost'), '')).toBe(false);
    expect(matchesFilter({ text: 'barn', states: ['failed'] }, run, '')).toBe(false);
  });

  it('reads a run of which nothing is known', () => {
    const unknown = aSnapshot('unknown');
    expect(matchesFilter({ text: unknown.runId.slice(0, 8), states: [] }, unknown, '')).toBe(true);
    expect(matchesFilter({ text: 'fence', states: [] }, unknown, '')).toBe(false);
  });
});
