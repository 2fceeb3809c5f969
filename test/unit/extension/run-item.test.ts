/** The row of a run: which commands its state offers. */
import { describe, expect, it, vi } from 'vitest';
import { createRunItem } from '../../../src/extension/trees/runs/run-item.ts';
import type { RunState, RunView } from '../../../src/protocol/index.ts';
import { aSnapshot, aWorkflowIn } from './snapshots.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

const contextOf = (state: RunState, over: Partial<RunView> = {}) =>
  createRunItem(aSnapshot(state, { over }), { needsPerson: false, project: undefined, now: Date.now() }).contextValue;

describe('the row of a run that is stopped', () => {
  it('offers Resume only where no person stopped it', () => {
    expect(contextOf('stopped', { stopRequested: true })).toBe('run.ended');
    expect(contextOf('stopped', { stopRequested: false })).toBe('run.resumable');
    expect(contextOf('rejected')).toBe('run.ended');
  });
});

describe('the row of a workflow that has ended', () => {
  const offered = (state: RunView['state'], kind?: string) =>
    createRunItem(aWorkflowIn(state, {}, { failure: kind === undefined ? null : { kind, message: 'x' } }), {
      needsPerson: false,
      project: undefined,
      now: Date.now(),
    }).contextValue;

  it('offers Resume only where a limit, or a lost runner, has ended it', () => {
    expect(offered('complete')).toBe('workflow.ended');
    expect(offered('failed', 'script')).toBe('workflow.ended');
    expect(offered('stopped')).toBe('workflow.ended');
    expect(offered('failed', 'limit')).toBe('workflow.resumable');
    expect(offered('partial', 'timeout')).toBe('workflow.resumable');
  });
});
