/** The row of a run: which commands its state offers. */
import { describe, expect, it, vi } from 'vitest';
import { createRunItem } from '../../../src/extension/trees/runs/run-item.ts';
import type { RunState, RunView } from '../../../src/protocol/index.ts';
import { aSnapshot } from './snapshots.ts';

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
