/** What control, questions, attention, outputs and recovery do to the view of a run. */
import { describe, expect, it } from 'vitest';
import { applyLine, foldRun } from '../../src/core/runs/index.ts';
import { type JournalEvent, type RunView, runView, type StoredState } from '../../src/protocol/index.ts';
import { oneOfEach, question, receipt, someError, steer } from './builders/events.ts';
import { aRecord, ended, lines } from './builders/run.ts';

const proceeded = oneOfEach['run.proceeded'];
const attempt = (number: number): JournalEvent => ({ ...oneOfEach['child.spawn.intended'], attempt: number });

function view(...events: JournalEvent[]): RunView {
  const found = foldRun(aRecord(), lines(events));
  // Whatever comes, it is a view that can be stored and sent.
  expect(runView.parse(JSON.parse(JSON.stringify(found)))).toEqual(found);
  return found;
}

const child = (...events: JournalEvent[]) => view(...events).children[0];
const expired = (questionId: string): JournalEvent => ({ ...oneOfEach['question.expired'], questionId });
const answered = (questionId: string): JournalEvent => ({ ...oneOfEach['question.answered'], questionId });

describe('messages to the child', () => {
  it('are listed as they were asked for, with their receipts', () => {
    const { steering } = view(
      proceeded,
      steer('a'),
      steer('b', { action: 'follow-up' }),
      steer('c'),
      steer('d'),
      steer('e'),
      receipt('a', 'queued'),
      receipt('a', 'delivered'),
      receipt('b', 'queued'),
      receipt('c', 'missed', 'the agent ended'),
      receipt('d', 'failed', 'Pi refused prompt'),
    );
    expect(steering).toEqual([
      { requestId: 'a', mode: 'steer', preview: 'say a', state: 'delivered', reason: null, at: 2_001 },
      { requestId: 'b', mode: 'follow-up', preview: 'say b', state: 'queued', reason: null, at: 2_002 },
      { requestId: 'c', mode: 'steer', preview: 'say c', state: 'missed', reason: 'the agent ended', at: 2_003 },
      { requestId: 'd', mode: 'steer', preview: 'say d', state: 'failed', reason: 'Pi refused prompt', at: 2_004 },
      { requestId: 'e', mode: 'steer', preview: 'say e', state: 'pending', reason: null, at: 2_005 },
    ]);
  });

  it('are the newest twenty', () => {
    const ids = Array.from({ length: 23 }, (_, i) => `m${i}`);
    const { steering } = view(...ids.map((id) => steer(id)), receipt('m0', 'delivered'), receipt('m22', 'queued'));
    expect(steering.map(({ requestId }) => requestId)).toEqual(ids.slice(3));
    expect(steering.map(({ state }) => state)).toEqual([...ids.slice(4).map(() => 'pending'), 'queued']);
  });

  it('are told from requests to end the run', () => {
    const stop = oneOfEach['control.requested'];
    expect(view(proceeded, stop)).toMatchObject({ stopRequested: true, interruptRequested: false, steering: [] });
    expect(view(proceeded, { ...stop, action: 'interrupt' })).toMatchObject({
      stopRequested: false,
      interruptRequested: true,
      steering: [],
    });
    expect(view(proceeded, steer('a'))).toMatchObject({ stopRequested: false, interruptRequested: false });
    // Their receipts are no receipts of messages.
    const states = view(steer('r'), receipt('r', 'done'), receipt('r', 'too-late')).steering.map(({ state }) => state);
    expect(states).toEqual(['pending']);
  });

  it('without a preview have none', () => {
    expect(view(steer('a', { preview: null })).steering[0]?.preview).toBe('');
  });
});

describe('a question', () => {
  const stateAfter = (...events: JournalEvent[]): StoredState => view(...events).state;

  it('makes the run wait until the last one is answered or expired', () => {
    const asked = [proceeded, question('a'), question('b')];
    expect(view(...asked)).toMatchObject({ state: 'waiting', questions: [{ id: 'a' }, { id: 'b' }] });
    expect(view(...asked, answered('a'))).toMatchObject({ state: 'waiting', questions: [{ id: 'b' }] });
    expect(view(...asked, answered('a'), expired('b'))).toMatchObject({ state: 'running', questions: [] });
    expect(stateAfter(...asked, answered('other'))).toBe('waiting');
  });

  it('is shown whole', () => {
    const { type: _, questionId: id, ...rest } = oneOfEach['question.asked'];
    expect(view(proceeded, question('q')).questions).toEqual([{ ...rest, id }]);
  });

  it('is gone with the run, and makes no other state wait', () => {
    expect(view(proceeded, question('a'), ended('stopped'))).toMatchObject({ state: 'stopped', questions: [] });
    expect(stateAfter(question('a'))).toBe('queued');
    expect(stateAfter(proceeded, ended('paused'), question('a'), answered('a'))).toBe('paused');
  });

  it('that was not answered before the run was confirmed is no state of its own', () => {
    expect(stateAfter(question('a'), proceeded)).toBe('running');
  });
});

describe('what a person should look at', () => {
  const raised = (kind: 'needs_attention' | 'active_long_running' | 'failing_tools'): JournalEvent => ({
    ...oneOfEach['attention.raised'],
    kind,
  });
  const cleared = (kind: 'needs_attention' | 'failing_tools'): JournalEvent => ({
    ...oneOfEach['attention.cleared'],
    kind,
  });

  it('is there from its notice to its end, each kind once', () => {
    const both = [raised('needs_attention'), raised('failing_tools'), raised('needs_attention')];
    expect(child(...both)?.attention).toEqual(['needs_attention', 'failing_tools']);
    expect(child(...both, cleared('needs_attention'))?.attention).toEqual(['failing_tools']);
    expect(child(...both, cleared('needs_attention'), cleared('failing_tools'))?.attention).toEqual([]);
    expect(child(cleared('failing_tools'), raised('active_long_running'))?.attention).toEqual(['active_long_running']);
  });

  it('is over with the work', () => {
    expect(child(raised('active_long_running'), oneOfEach['child.settled'])?.attention).toEqual([]);
  });
});

describe('the attempts of a child', () => {
  const failed = (next: 'retry' | 'fallback' | 'continue'): JournalEvent => ({
    ...oneOfEach['child.attempt.failed'],
    next,
  });
  const ready = (model: string): JournalEvent => ({ ...oneOfEach['child.ready'], model });

  it('name the models that were given up, each once, and the present one', () => {
    const events = [attempt(1), ready('fake/one'), failed('fallback'), attempt(2), ready('fake/two')];
    expect(view(...events)).toMatchObject({
      model: 'fake/two',
      children: [{ model: 'fake/two', attempt: 2, attemptedModels: ['fake/one'] }],
    });
    const more = [...events, failed('fallback'), attempt(3), ready('fake/one'), failed('fallback')];
    expect(child(...more)?.attemptedModels).toEqual(['fake/one', 'fake/two']);
  });

  it('with the same model, or without one, give none up', () => {
    for (const next of ['retry', 'continue'] as const)
      expect(child(attempt(1), ready('fake/one'), failed(next))?.attemptedModels).toEqual([]);
    expect(child(attempt(1), failed('fallback'))?.attemptedModels).toEqual([]);
  });

  it('keep what is known of the child until the next one says otherwise', () => {
    const events = [attempt(1), ready('fake/one'), oneOfEach['child.progress'], failed('retry'), attempt(2)];
    expect(child(...events)).toMatchObject({ phase: 'starting', turns: 3, session: { id: 'sess' }, state: 'running' });
  });
});

describe('limits, session and output', () => {
  it('a limit that was reached is remembered', () => {
    expect(child(oneOfEach['timeout.reached'], oneOfEach['child.settled'])?.timedOut).toBe(true);
    expect(child(oneOfEach['child.settled'])?.timedOut).toBe(false);
  });

  it.each(['ok', 'none', 'missing', 'damaged'] as const)('a session that is %s is said to be', (state) => {
    expect(child({ ...oneOfEach['child.session.checked'], state })?.sessionState).toBe(state);
  });

  it.each(['saved', 'kept', 'failed'] as const)('an output is open until it is %s', (outcome) => {
    const claimed = oneOfEach['output.claimed'];
    expect(child(claimed)?.output).toEqual({ path: '/work/answer.md', outcome: null, error: null });
    const error = outcome === 'failed' ? 'no rights' : null;
    expect(child(claimed, { ...oneOfEach['output.settled'], outcome, error })?.output).toEqual({
      path: '/work/answer.md',
      outcome,
      error,
    });
  });
});

describe('a run that is taken over', () => {
  const takenOver = (epoch: number): JournalEvent[] => [
    { ...oneOfEach['runner.started'], epoch },
    { ...oneOfEach['recovery.begun'], epoch },
  ];

  it('counts its runners', () => {
    expect(view(oneOfEach['runner.started']).epoch).toBe(1);
    expect(view(oneOfEach['runner.started'], proceeded, ...takenOver(4)).epoch).toBe(4);
  });

  it('to be stopped counts as stopped by a person; to be continued does not', () => {
    const begun = (settle: 'stop' | 'continue') => view(proceeded, { ...oneOfEach['recovery.begun'], settle });
    expect(begun('stop').stopRequested).toBe(true);
    expect(begun('continue').stopRequested).toBe(false);
  });

  it('waits for no answer that nobody would hear, and began when it began', () => {
    const before = [oneOfEach['runner.started'], proceeded, question('a')];
    const after = view(...before, ...takenOver(2), oneOfEach['recovery.decided']);
    expect(after).toMatchObject({ state: 'running', questions: [], startedAt: 2_001 });
    expect(view(...before, ...takenOver(2), proceeded).startedAt).toBe(2_001);
    // What the old runner had asked is said to be over afterwards, too.
    expect(view(...before, ...takenOver(2), expired('a')).state).toBe('running');
  });

  it('that had not proceeded is still queued', () => {
    expect(view(oneOfEach['runner.started'], ...takenOver(2)).state).toBe('queued');
  });

  it('keeps its messages as they were until they are settled', () => {
    const lost = [proceeded, steer('a'), receipt('a', 'queued'), ...takenOver(2)];
    expect(view(...lost).steering[0]?.state).toBe('queued');
    expect(view(...lost, receipt('a', 'missed', 'unknown')).steering[0]).toMatchObject({
      state: 'missed',
      reason: 'unknown',
    });
  });
});

describe('a run that has ended', () => {
  it('takes late news of its children, and none of itself', () => {
    const over = view(proceeded, attempt(1), { type: 'run.ended', state: 'failed', error: someError });
    const [late] = lines([oneOfEach['child.session.checked']], 9_000);
    const after = late && applyLine(over, { ...late, seq: 9 });
    expect(after).toMatchObject({ state: 'failed', error: someError, endedAt: over.endedAt, seq: 9 });
    expect(after?.children[0]).toMatchObject({ state: 'failed', sessionState: 'damaged' });
  });
});
