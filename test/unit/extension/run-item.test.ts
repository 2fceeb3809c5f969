/** The row of a run: which commands its state offers. */
import { describe, expect, it, vi } from 'vitest';
import { createRunItem } from '../../../src/extension/trees/runs/run-item.ts';
import type { RunState, RunView } from '../../../src/protocol/index.ts';
import { aSnapshot, aWorkflowIn } from './snapshots.ts';
import { aWorkflowSnapshot, begun } from './workflows.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

const contextOf = (state: RunState, over: Partial<RunView> = {}) =>
  createRunItem(aSnapshot(state, { over }), { needsPerson: false, project: undefined, now: Date.now() }).contextValue;

describe('the description of a run', () => {
  const now = Date.now();
  const descriptionOf = (state: RunState, over: Partial<RunView> = {}, project?: string) => {
    const started = { createdAt: now - 65_000, startedAt: now - 65_000 };
    const snapshot = aSnapshot(state, { over: { ...started, ...over } });
    return createRunItem(snapshot, { needsPerson: false, project, now }).description;
  };

  it('begins with what changes, so that a narrow view shows it, and leaves out what the icon says', () => {
    expect(descriptionOf('running')).toBe('1m 05s · worker · scripted');
    expect(descriptionOf('complete', { endedAt: now })).toBe('1m 05s · worker · scripted');
    expect(descriptionOf('waiting')).toBe('waiting · 1m 05s · worker · scripted');
    expect(descriptionOf('lost', { updatedAt: now - 60_000 })).toBe('lost · 5s · worker · scripted');
    const [child] = aSnapshot('running').view?.children ?? [];
    const children = child ? [{ ...child, phase: 'tool' as const, tool: 'bash' }] : [];
    expect(descriptionOf('running', { children })).toBe('bash · 1m 05s · worker · scripted');
    expect(descriptionOf('running', {}, 'harbour')).toBe('harbour · 1m 05s · worker · scripted');
    expect(descriptionOf('unknown')).toBe('unknown');
  });
});

describe('the row of a run that is stopped', () => {
  it('offers Resume only where no person stopped it', () => {
    expect(contextOf('stopped', { stopRequested: true })).toBe('run.ended');
    expect(contextOf('stopped', { stopRequested: false })).toBe('run.resumable');
    expect(contextOf('rejected')).toBe('run.ended');
  });
});

describe('the row of a workflow that has ended', () => {
  it('counts nothing where nothing had begun', () => {
    const shown = { needsPerson: false, project: undefined, now: Date.now() };
    expect(createRunItem(aWorkflowSnapshot([]), shown).description).not.toContain('done');
    expect(createRunItem(aWorkflowSnapshot(begun(1, 'survey', 1)), shown).description).toContain('0 of 1 done');
  });

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
