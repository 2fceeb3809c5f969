import { describe, expect, it } from 'vitest';
import type { RunSnapshot } from '../../../src/client/index.ts';
import { NO_FILTER } from '../../../src/extension/runs/run-filter.ts';
import { type LayoutInput, layoutRuns, type ShownRun, sectionKeys } from '../../../src/extension/runs/runs-layout.ts';
import { aSnapshot } from './snapshots.ts';

const NOW = new Date(2026, 10, 30, 15).getTime();
const HOUR = 3_600_000;

const one = { name: 'one', title: 'One', hasMore: false };
const two = { name: 'two', title: 'Two', hasMore: false };

function layout(runs: ShownRun[], over: Partial<LayoutInput> = {}) {
  const needsPerson = ({ state }: RunSnapshot) => state === 'waiting';
  return layoutRuns({ runs, projects: [one], filter: NO_FILTER, needsPerson, now: NOW, ...over });
}

const of = (project: string, ...snapshots: RunSnapshot[]) => snapshots.map((snapshot) => ({ snapshot, project }));

describe('the layout of the Runs view', () => {
  it('puts what needs a person first, then what is active, then the days, each run once', () => {
    const waiting = aSnapshot('waiting', { at: NOW });
    const running = aSnapshot('running', { at: NOW - 1 });
    const today = aSnapshot('complete', { at: NOW - HOUR });
    const earlier = aSnapshot('failed', { at: NOW - 2 * HOUR });
    const yesterday = aSnapshot('complete', { at: NOW - 24 * HOUR });
    const result = layout(of('one', yesterday, earlier, waiting, today, running));
    expect(result.needs?.runs).toEqual([waiting]);
    expect(result.projects[0]?.sections.map(({ key, runs }) => [key, runs])).toEqual([
      ['one/active', [running]],
      ['one/2026-11-30', [today, earlier]],
      ['one/2026-11-29', [yesterday]],
    ]);
    expect(sectionKeys(result).size).toBe(5);
  });

  it('has no empty sections', () => {
    expect(layout([])).toMatchObject({ needs: undefined, projects: [{ sections: [] }], shown: 0, total: 0 });
  });

  it('keeps projects apart, and what needs a person together', () => {
    const runs = [...of('one', aSnapshot('complete'), aSnapshot('waiting')), ...of('two', aSnapshot('waiting'))];
    const result = layout(runs, { projects: [one, two] });
    expect(result.needs?.runs).toHaveLength(2);
    expect(result.projects.map(({ sections }) => sections.length)).toEqual([1, 0]);
  });

  it('does not count a run as active of which nothing can be read: it stands on the day its id names', () => {
    const result = layout(of('one', aSnapshot('unknown', { at: NOW - 24 * HOUR })));
    expect(result.projects[0]?.sections.map(({ key }) => key)).toEqual(['one/2026-11-29']);
  });

  it('counts what a filter hides', () => {
    const runs = of('one', aSnapshot('complete', { task: 'find me' }), aSnapshot('waiting', { task: 'not me' }));
    const result = layout(runs, { filter: { text: 'find', states: [] } });
    expect(result).toMatchObject({ needs: undefined, filtering: true, shown: 1, total: 2 });
  });

  it('B43 counts no ended run as active', () => {
    const runs = of('one', ...Array.from({ length: 33 }, () => aSnapshot('complete', { at: NOW })));
    const result = layout(runs);
    expect(result.needs).toBeUndefined();
    expect(result.projects[0]?.sections.map(({ kind }) => kind)).toEqual(['day']);
  });
});
