/** What the tooltip of a run tells. */
import { describe, expect, it, vi } from 'vitest';
import { createRunTooltip } from '../../../src/extension/trees/runs/run-tooltip.ts';
import { aSnapshot, aWorkflowIn } from './snapshots.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

const tooltip = (snapshot: Parameters<typeof createRunTooltip>[0]) =>
  createRunTooltip(snapshot, undefined, Date.now()).value;

describe('the output file of a run', () => {
  const output = { path: '/work/report.md', outcome: null, error: null };

  it('of one agent is named, and not where there is none', () => {
    const snapshot = aSnapshot('running');
    const [child] = snapshot.view?.children ?? [];
    if (!child) throw new Error('it has a child');
    const { output: _, ...bare } = child;
    const withOutput = (one: typeof child) => tooltip(aSnapshot('running', { over: { children: [one] } }));
    expect(withOutput({ ...bare, output })).toMatch(/Output.*report\.md/);
    expect(withOutput({ ...bare, output: null })).not.toContain('Output');
  });

  it('of a workflow is that of the whole, not of one of its agents', () => {
    expect(tooltip(aWorkflowIn('running', {}, { output }))).toMatch(/Output.*report\.md/);
    expect(tooltip(aWorkflowIn('running'))).not.toContain('Output');
  });
});
