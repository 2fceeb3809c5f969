/** What the head of a transcript says of its run, and what it offers. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runHead, sessionHead } from '../../../src/extension/panels/transcript/panel-head.ts';
import {
  type ChildPhase,
  describeError,
  type JournalEvent,
  type PanelHead,
  type PanelItem,
  type RunState,
  type RunView,
} from '../../../src/protocol/index.ts';
import { oneOfEach, steer } from '../builders/events.ts';
import { someUsage } from '../builders/transcripts.ts';
import { aSnapshot } from './snapshots.ts';
import { workspace } from './vscode-stand-in.ts';
import { asks, asksToRun, aWorkflowSnapshot, begun, settled } from './workflows.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));
afterEach(() => {
  workspace.isTrusted = true;
});

const facts = { source: { kind: 'mirror' as const, other: false }, tokens: null, model: null, window: null };
const offered = (state: RunState, over: Partial<RunView> = {}) =>
  Object.entries(runHead(aSnapshot(state, { over }), 1, facts).can)
    .filter(([, can]) => can)
    .map(([name]) => name);

describe('the head of a run', () => {
  it('offers what its state takes', () => {
    const talk = ['steer', 'interrupt', 'stop'];
    const states: [RunState, string[]][] = [
      ['queued', talk],
      ['running', talk],
      ['waiting', talk],
      ['lost', ['stop', 'resume']],
      ['unresponsive', ['forceStop']],
      ['unknown', ['forceStop']],
      ['paused', ['resume']],
      ['complete', ['resume']],
      ['partial', ['resume']],
      ['failed', ['resume']],
      ['stopped', ['resume']],
      ['rejected', []],
    ];
    for (const [state, wanted] of states) expect(offered(state), state).toEqual(wanted);
    // Nobody stopped the one above: its Pi was ended from outside.
    expect(offered('stopped', { stopRequested: true })).toEqual([]);
    // It was asked to end and may not come to it.
    expect(offered('running', { stopRequested: true })).toEqual([...talk, 'forceStop']);
  });

  it('offers no start where nothing may start', () => {
    workspace.isTrusted = false;
    expect(offered('failed')).toEqual([]);
  });

  it('says what the child does now, and nothing when it does nothing', () => {
    const doing = (phase: ChildPhase, tool: string | null = null, state: RunState = 'running') => {
      const snapshot = aSnapshot(state);
      const children = snapshot.view?.children.map((child) => ({ ...child, phase, tool })) ?? [];
      return runHead({ ...snapshot, view: snapshot.view && { ...snapshot.view, children } }, 1, facts).activity;
    };
    expect(doing('thinking')).toBe('thinking');
    expect(doing('tool', 'bash')).toBe('running bash');
    expect(doing('idle')).toBeNull();
    expect(doing('thinking', null, 'lost')).toBeNull();
    expect(doing('thinking', null, 'waiting')).toBeNull();
  });

  it('tells how full the context is, as far as that is known', () => {
    expect(runHead(aSnapshot('running'), 1, facts).context).toBeNull();
    const known = { ...facts, tokens: 19, model: 'p/m', window: 200_000 };
    expect(runHead(aSnapshot('running'), 1, known)).toMatchObject({
      model: 'p/m',
      context: { tokens: 19, window: 200_000 },
    });
  });

  it('has its error worded by the editor, not as the journal has it', () => {
    const error = { ...describeError('child_exited:aborted'), message: 'As the journal has it.' };
    expect(runHead({ ...aSnapshot('failed'), error }, 1, facts).error).toEqual(describeError('child_exited:aborted'));
  });

  it('of a run that is gone says what to do', () => {
    const error = { code: 'run_not_found' as const, message: 'There is no run in /x.' };
    const head = runHead({ ...aSnapshot('unknown'), error }, 1, facts);
    expect(head).toMatchObject({ state: 'unknown', error: { code: 'run_not_found' } });
    expect(head.error?.hint).toContain('Close this tab');
  });
});

describe('the head of a child of a workflow', () => {
  const head = (events: JournalEvent[], child: number, state?: RunState) =>
    runHead(aWorkflowSnapshot([...begun(1, 'a'), ...begun(2, 'b'), ...events], state ? { state } : {}), child, facts);
  const can = (one: PanelHead) => Object.entries(one.can).flatMap(([name, is]) => (is ? [name] : []));

  it('names run and key, and has the state, cost and error of the child alone', () => {
    const failed = head([settled(2, 'failed')], 2);
    expect(failed).toMatchObject({ title: 'harbour · b', agent: 'scout', state: 'failed', usage: { input: 100 } });
    expect(failed.runId).toMatch(/\.2$/);
    expect(failed.error?.code).toBe('child_model_error');
    expect(can(failed)).toEqual([]);
    expect(head([settled(2, 'failed')], 1)).toMatchObject({ state: 'running', error: null, usage: { input: 0 } });
  });

  it('offers to talk to it and to end it alone, while it works', () => {
    expect(can(head([], 1))).toEqual(['steer', 'interrupt', 'stop']);
    expect(can(head([settled(1)], 1))).toEqual([]);
    expect(can(head([], 1, 'lost'))).toEqual([]);
    // It is not there yet.
    expect(can(head([], 9))).toEqual([]);
    expect(head([{ ...oneOfEach['control.requested'], child: 1, action: 'stop' }], 1).stateWord).toBe('stopping');
    expect(head([{ ...oneOfEach['control.requested'], child: 1, action: 'stop' }], 2).stateWord).toBe('running');
  });

  it('has only its own questions and messages', () => {
    const events = [asks(1, 'q1'), asks(2, 'q2'), asksToRun(3, 'ci', 'make'), steer('to two', { child: 2 })];
    const two = head(events, 2);
    expect(two.questions.map(({ id }) => id)).toEqual(['q2']);
    expect(two.steering.map(({ requestId }) => requestId)).toEqual(['to two']);
    expect(two.state).toBe('waiting');
    expect(head(events, 1).steering).toEqual([]);
  });
});

it('the head of a session offers nothing, and has no state', () => {
  const head = sessionHead('a.jsonl', facts);
  expect(head).toMatchObject({ title: 'a.jsonl', runId: null, state: null });
  expect(Object.values(head.can)).toEqual([false, false, false, false, false]);
});

it('the last request is the last answer that cost something', async () => {
  const { lastRequest } = await import('../../../src/extension/panels/transcript/panel-head.ts');
  const turn = (usage: typeof someUsage | null, model: string): PanelItem => ({
    kind: 'turn',
    key: model,
    cursor: null,
    t: 1,
    model,
    stopReason: 'stop',
    error: null,
    usage,
  });
  const failed = turn({ ...someUsage, input: 0, cacheRead: 0 }, 'c');
  expect(lastRequest([turn(someUsage, 'a'), turn(null, 'b'), failed])).toEqual({ tokens: 19, model: 'a' });
  expect(lastRequest([])).toBeUndefined();
});
