/** What the tooltip of a run tells. */
import { describe, expect, it, vi } from 'vitest';
import { createRunTooltip } from '../../../src/extension/trees/runs/run-tooltip.ts';
import { aWorktreeView } from '../builders/worktree-view.ts';
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

describe('where an agent works', () => {
  const worktree = aWorktreeView();
  const of = (over: object) => {
    const [child] = aSnapshot('running').view?.children ?? [];
    if (!child) throw new Error('it has a child');
    return tooltip(aSnapshot('running', { over: { children: [{ ...child, ...over }] } }));
  };

  it('is its worktree, with what was kept of it', () => {
    expect(of({ worktree })).toMatch(/Worktree.*tool\.worktrees/);
    expect(of({ worktree })).toMatch(/Kept.*3 changed files, 2 commits, 6 files outside of git/);
    expect(of({ worktree: { ...worktree, changed: false } })).toMatch(/Kept.*nothing was changed/);
    expect(of({ worktree: { ...worktree, state: 'ready' } })).not.toContain('Kept');
    const faults = [{ code: 'git_failed' as const, message: 'Git failed.' }];
    expect(of({ worktree: { ...worktree, state: 'capture-failed', faults } })).toMatch(/Kept.*not yet: Git failed/);
    expect(of({})).not.toContain('Worktree');
  });

  it('is a checkout it waits for', () => {
    const text = of({ awaits: { folder: '/work/tool', owner: 'run 4711' } });
    expect(text).toMatch(/State.*waiting for the checkout/);
    expect(text).toMatch(/Waits for.*run 4711, which may change files in/);
  });
});
