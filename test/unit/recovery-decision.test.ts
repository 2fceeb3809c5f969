/** What must happen with a child whose runner is gone. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aliveMs, aliveWithoutWaitsMs, decideRecovery, foldRun, lastPrompt } from '../../src/core/runs/index.ts';
import type { SessionFile, SessionVerdict } from '../../src/core/sessions/index.ts';
import { type JournalEvent, type JournalLine, NO_USAGE } from '../../src/protocol/index.ts';
import { aRecord, lines as stamp } from './builders/run.ts';

const runId = '01980000-0000-7000-8000-000000000001';
const record = aRecord({ runId });

const runner = (epoch = 1): JournalEvent => ({
  type: 'runner.started',
  epoch,
  process: { pid: 10 + epoch, start: 's' },
  node: '24.0.0',
  version: '0',
  runtime: 'abc',
});
const begun: JournalEvent[] = [{ type: 'run.created', runId, digest: 'd' }, runner(), { type: 'run.proceeded' }];
const spawned: JournalEvent[] = [
  { type: 'child.spawn.intended', child: 1, attempt: 1, agent: 'worker' },
  { type: 'child.spawned', child: 1, attempt: 1, process: { pid: 99, start: 's' } },
  { type: 'child.ready', child: 1, session: { id: 'x', file: '/s.jsonl' }, model: 'fake/scripted', thinking: 'high' },
];
const prompt = (sha256: string): JournalEvent => ({
  type: 'child.prompt.intended',
  child: 1,
  promptId: `p-${sha256}`,
  bytes: 5,
  sha256,
});
const settled: JournalEvent = {
  type: 'child.settled',
  child: 1,
  state: 'failed',
  stopReason: 'error',
  error: { code: 'child_model_error', message: 'no' },
  result: null,
  turns: 1,
  toolCalls: 0,
  usage: NO_USAGE,
};

const ok: SessionFile = { state: 'ok', id: 'x', cwd: '/project', branch: [] };

function decide(events: JournalEvent[], session?: { file?: SessionFile; verdict?: SessionVerdict }) {
  const lines = stamp(events);
  const found = session && { file: session.file ?? ok, verdict: session.verdict, path: '/s.jsonl' };
  return decideRecovery(foldRun(record, lines).children[0]?.attempt ?? 0, lines, found);
}

describe('the decision', () => {
  test('no child had been started', () => {
    expect(decide(begun)).toEqual({ decision: 'start', reason: 'no child had been started' });
  });

  test('a child was there and had not been asked anything', () => {
    const reason = 'the child had not been asked anything';
    expect(decide([...begun, ...spawned])).toEqual({ decision: 'start', reason });
    expect(decide([...begun, ...spawned.slice(0, 1)])).toEqual({ decision: 'start', reason });
    // Its session says nothing about a prompt that was never meant to be sent.
    expect(decide([...begun, ...spawned], { verdict: { kind: 'unfinished' } }).decision).toBe('start');
  });

  test('the prompt may have been sent, and there is no session to look into', () => {
    expect(decide([...begun, ...spawned, prompt('a')])).toEqual({
      decision: 'ask-again',
      reason: 'the child had no session file',
    });
  });

  test.each(['missing', 'damaged', 'unsupported'] as const)('its session is %s', (state) => {
    const file = { state, reason: '/s.jsonl is not what it should be' };
    expect(decide([...begun, ...spawned, prompt('a')], { file })).toEqual({
      decision: 'ask-again',
      reason: 'its session cannot be continued: /s.jsonl is not what it should be',
    });
  });

  test('the session ends with the answer: it is adopted, word for word', () => {
    const verdict: SessionVerdict = { kind: 'answered', text: 'The answer.\n', stopReason: 'length' };
    expect(decide([...begun, ...spawned, prompt('a')], { verdict })).toEqual({
      decision: 'adopt',
      text: 'The answer.\n',
      stopReason: 'length',
      reason: 'the session ends with the answer',
    });
  });

  test('the session holds unfinished work', () => {
    expect(decide([...begun, ...spawned, prompt('a')], { verdict: { kind: 'unfinished' } })).toEqual({
      decision: 'continue',
      session: '/s.jsonl',
      reason: 'the session holds unfinished work',
    });
  });

  test('the session holds no answer to the prompt', () => {
    const reason = 'the session holds no answer to the prompt';
    for (const session of [{ verdict: { kind: 'not-begun' } as const }, {}]) {
      expect(decide([...begun, ...spawned, prompt('a')], session)).toEqual({ decision: 'ask-again', reason });
    }
  });

  test('the child had settled: its verdict stands, whatever its session says', () => {
    const events = [...begun, ...spawned, prompt('a'), settled];
    const wanted = {
      decision: 'finish',
      state: 'failed',
      error: { code: 'child_model_error', message: 'no' },
      reason: 'the child had settled',
    };
    expect(decide(events)).toEqual(wanted);
    expect(decide(events, { verdict: { kind: 'answered', text: 'x', stopReason: 'stop' } })).toEqual(wanted);
    expect(decide(events, { file: { state: 'damaged', reason: 'r' } })).toEqual(wanted);
  });
});

describe('the last prompt', () => {
  test('is the one that was about to be sent last', () => {
    expect(lastPrompt([])).toBeUndefined();
    expect(lastPrompt(stamp([...begun, ...spawned]))).toBeUndefined();
    expect(lastPrompt(stamp([...begun, ...spawned, prompt('task'), prompt('go on')]))).toEqual({ sha256: 'go on' });
  });
});

describe('the time a run has been alive', () => {
  const at = (t: number, event: JournalEvent): JournalLine => ({ ...event, seq: t, t });
  const proceeded: JournalEvent = { type: 'run.proceeded' };

  test('nothing, when there was no runner', () => {
    expect(aliveMs([])).toBe(0);
    expect(aliveMs([at(100, { type: 'run.created', runId, digest: 'd' })])).toBe(0);
  });

  test('from the start of a runner to its last line, the time between two runners left out', () => {
    expect(aliveMs([at(1000, runner(1))])).toBe(0);
    expect(aliveMs([at(1000, runner(1)), at(4000, proceeded)])).toBe(3000);
    const two = [at(1000, runner(1)), at(4000, proceeded), at(1_000_000, runner(2)), at(1_000_500, proceeded)];
    expect(aliveMs(two)).toBe(3500);
    expect(aliveMs([...two, at(2_000_000, runner(3))])).toBe(3500);
  });

  test('a wall clock that was set back counts as nothing, never as less', () => {
    expect(aliveMs([at(5000, runner(1)), at(1000, proceeded)])).toBe(0);
    expect(aliveMs([at(5000, runner(1)), at(1000, proceeded), at(900, runner(2)), at(1900, proceeded)])).toBe(1000);
  });

  test('is the sum of what each runner lived', () => {
    const lives = fc.array(fc.record({ gap: fc.nat(100_000), lived: fc.nat(100_000) }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(lives, (spans) => {
        let t = 1_000_000;
        const lines = spans.flatMap(({ gap, lived }, index) => {
          const from = t + gap;
          t = from + lived;
          return [at(from, runner(index + 1)), at(t, proceeded)];
        });
        expect(aliveMs(lines)).toBe(spans.reduce((sum, { lived }) => sum + lived, 0));
      }),
    );
  });
});

describe('how long a run lived without waiting for a checkout', () => {
  const at = (t: number, event: JournalEvent): JournalLine => ({ ...event, seq: 1, t });
  const proceeded: JournalEvent = { type: 'run.proceeded' };
  const awaited = (owner = 'run a'): JournalEvent => ({ type: 'checkout.awaited', child: 1, folder: '/work', owner });
  const taken: JournalEvent = { type: 'checkout.taken', child: 1, folder: '/work' };

  test('is all of it when it never waited', () => {
    expect(aliveWithoutWaitsMs([])).toBe(0);
    expect(aliveWithoutWaitsMs([at(1000, runner(1)), at(4000, proceeded)])).toBe(3000);
  });

  test('leaves out a wait as a whole, whoever was waited for', () => {
    const lines = [at(1000, runner(1)), at(2000, awaited()), at(50_000, awaited('run b')), at(90_000, taken)];
    expect(aliveWithoutWaitsMs(lines)).toBe(1000);
    expect(aliveWithoutWaitsMs([...lines, at(93_000, proceeded)])).toBe(4000);
  });

  test('counts a wait up to the death of its runner once, and what the next one waits again', () => {
    const lines = [
      at(1000, runner(1)),
      at(2000, awaited()),
      at(9000, proceeded),
      at(500_000, runner(2)),
      at(500_500, awaited()),
      at(560_000, taken),
      at(561_000, proceeded),
    ];
    expect(aliveWithoutWaitsMs(lines.slice(0, 3))).toBe(1000);
    expect(aliveWithoutWaitsMs(lines)).toBe(2500);
  });
});
