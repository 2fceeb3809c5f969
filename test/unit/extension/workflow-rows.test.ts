/** Which rows stand below a workflow run, in which order, and how far it is. */
import { describe, expect, it } from 'vitest';
import { progressOf, type WorkflowRow, workflowRows } from '../../../src/extension/runs/workflow-rows.ts';
import { oneOfEach } from '../builders/events.ts';
import { announced, asks, asksToRun, aWorkflowSnapshot, begun, lane, settled } from './workflows.ts';

/** `name state`, with the rows of a lane in brackets. */
function text(row: WorkflowRow | Extract<WorkflowRow, { kind: 'lane' }>['rows'][number]): string {
  switch (row.kind) {
    case 'lane':
      return `${row.key} ${row.state} [${row.rows.map(text).join(', ')}]`;
    case 'stage':
      return `${row.key} ${row.state}`;
    case 'child':
      return `${row.child.key} ${row.state}${row.replaced ? ' (replaced)' : ''}`;
    case 'host':
      return `${row.host.key} ${row.host.state}`;
  }
}
const rows = (...args: Parameters<typeof aWorkflowSnapshot>) => workflowRows(aWorkflowSnapshot(...args)).map(text);

describe('the rows of a workflow', () => {
  it('are lanes with stages that are planned, at work and done, and everything else, as the script asked for it', () => {
    const events = [
      ...begun(1, 'survey', 1),
      settled(1),
      announced(lane('north', 'draft', 'review'), lane('south', 'draft', 'review')),
      ...begun(2, 'north.draft', 2),
      ...begun(3, 'south.draft', 3),
      settled(2),
      ...begun(4, 'north.review', 4),
      { ...oneOfEach['host.intended'], id: 5, key: 'ci' },
      ...begun(5, 'summary', 6),
    ];
    expect(rows(events)).toEqual([
      'survey complete',
      'north running [north.draft complete, north.review running]',
      'south running [south.draft running, south.review planned]',
      'ci running',
      'summary running',
    ]);
    expect(progressOf(workflowRows(aWorkflowSnapshot(events)))).toEqual({ done: 2, failed: 0, total: 7 });
  });

  it('keep their order while lanes wait for their turn', () => {
    const three = announced(lane('a', 'x'), lane('b', 'x'), lane('c', 'x'));
    const order = ['a', 'b', 'c'];
    const names = (...events: Parameters<typeof aWorkflowSnapshot>[0]) =>
      workflowRows(aWorkflowSnapshot([three, ...events])).map((row) => (row.kind === 'lane' ? row.key : '?'));
    expect(names()).toEqual(order);
    expect(names(...begun(1, 'a.x', 1), ...begun(2, 'c.x', 3))).toEqual(order);
    expect(names(...begun(1, 'a.x', 1), ...begun(2, 'c.x', 3), ...begun(3, 'b.x', 2))).toEqual(order);
  });

  it('say which stages never come: behind one that failed, one whose verdict was blocked, and at the end of the run', () => {
    const lanes = announced(lane('f', 'x', 'y'), lane('v', 'x', 'y'), lane('w', 'x', 'y'));
    const events = [
      ...[lanes, ...begun(1, 'f.x'), ...begun(2, 'v.x'), ...begun(3, 'w.x')],
      ...[settled(1, 'failed'), settled(2, 'complete', { verdict: 'blocked' })],
      settled(3, 'complete', { verdict: 'approved' }),
    ];
    const blocked = ['f failed [f.x failed, f.y skipped]', 'v partial [v.x complete, v.y skipped]'];
    expect(rows(events)).toEqual([...blocked, 'w running [w.x complete, w.y planned]']);
    const ended = [...events, { ...oneOfEach['run.ended'], state: 'stopped' as const }];
    expect(rows(ended)).toEqual([...blocked, 'w partial [w.x complete, w.y omitted]']);
    expect(progressOf(workflowRows(aWorkflowSnapshot(ended)))).toEqual({ done: 3, failed: 1, total: 6 });
  });

  it('have the newest attempt of a stage in its place, and count each only once', () => {
    const events = [
      ...[announced(lane('a', 'x')), ...begun(1, 'a.x', 1), settled(1, 'failed'), ...begun(2, 'a.x', 1)],
      ...[...begun(3, 'other', 2), settled(3, 'failed'), ...begun(4, 'other', 2), settled(4)],
    ];
    expect(rows(events)).toEqual([
      'a running [a.x failed (replaced), a.x running]',
      'other failed (replaced)',
      'other complete',
    ]);
    expect(progressOf(workflowRows(aWorkflowSnapshot(events)))).toEqual({ done: 1, failed: 0, total: 2 });
  });

  it('say who waits for a person, and nothing they cannot know', () => {
    const events = [
      announced(lane('a', 'x')),
      ...begun(1, 'a.x'),
      ...begun(2, 'b'),
      asks(1),
      asksToRun(3, 'ci', 'make'),
    ];
    expect(rows(events)).toEqual(['a waiting [a.x waiting]', 'b running', 'ci asking']);
    expect(rows(events, { state: 'lost' })).toEqual(['a lost [a.x lost]', 'b lost', 'ci asking']);
  });

  it('are none of a single run', async () => {
    const { aSnapshot } = await import('./snapshots.ts');
    expect(workflowRows(aSnapshot('running'))).toEqual([]);
  });
});
