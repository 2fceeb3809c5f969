/** What is done when a child fails before its work is over. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChildOutcome } from '../../src/core/children/index.ts';
import { type ChildPlan, type ErrorCode, NO_USAGE } from '../../src/protocol/index.ts';
import {
  type AttemptFacts,
  attemptsSoFar,
  COLD_START_DELAYS_MS,
  COLD_START_MS,
  nextStep,
} from '../../src/runner/attempt-policy.ts';
import { oneOfEach } from './builders/events.ts';
import { lines } from './builders/run.ts';

const plan: ChildPlan = {
  agent: {
    name: 'worker',
    description: 'works',
    source: 'runtime',
    systemPrompt: '',
    systemPromptMode: 'append',
    inheritProjectContext: false,
    inheritSkills: false,
  },
  fallbacks: [{ model: 'fake/second' }, { model: 'fake/third', thinking: 'low' }],
  task: 'Do it',
  modelIsExplicit: false,
  sessionName: 'worker · Do it',
};
const progress: ChildOutcome['progress'] = { phase: 'idle', tool: null, turns: 0, toolCalls: 0, usage: NO_USAGE };

const outcome = (change: Partial<ChildOutcome>): ChildOutcome => ({
  state: 'failed',
  stopReason: null,
  text: '',
  lastWords: '',
  error: null,
  progress,
  exited: false,
  inactive: false,
  ...change,
});

const failure = (code: ErrorCode, message: string, change: Partial<ChildOutcome> = {}) =>
  outcome({ error: { code, message }, ...change });

/** The model said why it could not answer. */
const modelError = (message: string, change: Partial<ChildOutcome> = {}) =>
  failure('child_model_error', `The model failed: ${message}`, { stopReason: 'error', ...change });

/** The process was gone before anything was heard from it. */
const coldExit = failure('child_exited', 'The child exited with code 1 before it was done.', {
  exited: true,
  inactive: true,
});

const step = (facts: Partial<AttemptFacts> & Pick<AttemptFacts, 'outcome'>) =>
  nextStep({ tookMs: 10_000, plan, coldStarts: 0, tried: ['fake/first'], recovered: false, ...facts });

describe('a start that fails', () => {
  test('run-14 is tried again three times, each time later, and then given up', () => {
    const steps = [0, 1, 2, 3].map((coldStarts) => step({ outcome: coldExit, tookMs: 100, coldStarts }));
    expect(steps).toEqual([
      { next: 'retry', delayMs: 250 },
      { next: 'retry', delayMs: 750 },
      { next: 'retry', delayMs: 1500 },
      { next: 'none' },
    ]);
    expect(COLD_START_DELAYS_MS).toEqual([250, 750, 1500]);
  });

  test.each([
    [COLD_START_MS, 'retry'],
    [COLD_START_MS + 1, 'none'],
  ])('run-14 an exit after %i ms: %s', (tookMs, next) => {
    expect(COLD_START_MS).toBe(2000);
    expect(step({ outcome: coldExit, tookMs }).next).toBe(next);
  });

  test('run-14 not after a sign of work, and not while the process is there', () => {
    expect(step({ outcome: { ...coldExit, inactive: false }, tookMs: 10 })).toEqual({ next: 'none' });
    expect(step({ outcome: { ...coldExit, exited: false }, tookMs: 10 })).toEqual({ next: 'none' });
  });

  test('run-14 a model that was named is tried again as well: it is the same model', () => {
    const explicit = { ...plan, modelIsExplicit: true };
    expect(step({ outcome: coldExit, tookMs: 10, plan: explicit })).toEqual({ next: 'retry', delayMs: 250 });
  });
});

describe('another model', () => {
  test.each([
    '429 Too Many Requests',
    'quota exceeded',
    'You exceeded your current quota',
    'rate limit reached',
    'rate_limit_error',
    '401 Unauthorized',
    '402 payment required',
    '403 forbidden',
    '408 request timeout',
    'invalid api key',
    'billing hard limit',
    '500 Internal Server Error',
    '502 Bad Gateway',
    '503 Service Unavailable',
    '529 Overloaded',
    'overloaded_error',
    'Request timed out.',
    'timeout',
    'Connection error.',
    'read ECONNRESET',
    'socket hang up',
    'network failure',
    'terminated',
    'stream ended without finish reason',
  ])('is used for a problem of the provider: %s', (message) => {
    expect(step({ outcome: modelError(message) })).toEqual({
      next: 'fallback',
      plan: { ...plan, model: 'fake/second' },
      delayMs: 0,
    });
  });

  test('is used for an empty answer', () => {
    const empty = failure('child_empty_output', 'The child ended with an empty answer.', { stopReason: 'stop' });
    expect(step({ outcome: empty })).toEqual({
      next: 'fallback',
      plan: { ...plan, model: 'fake/second' },
      delayMs: 0,
    });
  });

  test.each(['400 invalid request: unknown parameter', 'the schema of tool read is not valid', 'content was refused'])(
    'is not used for what is no problem of the provider: %s',
    (message) => {
      expect(step({ outcome: modelError(message) })).toEqual({ next: 'none' });
    },
  );

  test.each([
    'maximum context length is 128000 tokens',
    'context_length_exceeded (429)',
    'This request exceeds the context window of the model, 500',
    'too many tokens, connection closed',
    'prompt is too long: 210000 tokens, status 503',
  ])('is not used when the context is full, whatever else is said: %s', (message) => {
    expect(step({ outcome: modelError(message) })).toEqual({ next: 'none' });
  });

  test.each<ErrorCode>(['child_exited', 'child_mid_tool', 'tool_timed_out', 'protocol_output_limit', 'internal'])(
    'is not used for %s, even when its words sound like the provider',
    (code) => {
      expect(step({ outcome: failure(code, '429 connection timeout') })).toEqual({ next: 'none' });
    },
  );

  test('is not used after a tool was called: its work would be done twice', () => {
    const working = { ...progress, turns: 2, toolCalls: 1 };
    expect(step({ outcome: modelError('529 busy', { progress: working }) })).toEqual({ next: 'none' });
  });

  test('is not used when the model was named', () => {
    expect(step({ outcome: modelError('529 busy'), plan: { ...plan, modelIsExplicit: true } })).toEqual({
      next: 'none',
    });
  });

  test('is the next in order that was not tried; after the last there is none', () => {
    const busy = modelError('529 busy');
    expect(step({ outcome: busy, tried: ['fake/first', 'fake/second'] })).toEqual({
      next: 'fallback',
      plan: { ...plan, model: 'fake/third', thinking: 'low' },
      delayMs: 0,
    });
    expect(step({ outcome: busy, tried: ['fake/second', 'fake/third'] })).toEqual({ next: 'none' });
    const { fallbacks: _, ...alone } = plan;
    expect(step({ outcome: busy, plan: alone })).toEqual({ next: 'none' });
  });

  test.each(['complete', 'partial', 'stopped', 'paused'] as const)('is not used when the work is %s', (state) => {
    expect(step({ outcome: { ...modelError('529 busy'), state } })).toEqual({ next: 'none' });
  });
});

describe('an abort that nobody asked for', () => {
  const working = { ...progress, turns: 3, toolCalls: 2 };
  const aborted = outcome({ state: 'stopped', stopReason: 'aborted', progress: working });

  test('is recovered from once', () => {
    expect(step({ outcome: aborted })).toEqual({ next: 'continue', delayMs: 0 });
    expect(step({ outcome: aborted, recovered: true })).toEqual({ next: 'none' });
  });

  test('is not recovered from without useful work, with words, with an open tool, or when the process is gone', () => {
    const cases: Partial<ChildOutcome>[] = [
      { progress: { ...working, turns: 1 } },
      { text: 'I was just about to' },
      { progress: { ...working, tool: 'bash' } },
      { exited: true },
      { stopReason: 'stop' },
      { stopReason: null },
    ];
    for (const change of cases) expect(step({ outcome: { ...aborted, ...change } })).toEqual({ next: 'none' });
  });
});

test('whatever happens, no more than three starts, each model once and one recovery are added', () => {
  const outcomes = fc.constantFrom(
    coldExit,
    modelError('529 busy'),
    outcome({ state: 'stopped', stopReason: 'aborted', progress: { ...progress, turns: 2 } }),
  );
  fc.assert(
    fc.property(fc.array(outcomes, { minLength: 12, maxLength: 20 }), (script) => {
      const tried = ['fake/first'];
      let coldStarts = 0;
      let recovered = false;
      let steps = 0;
      for (const one of script) {
        const next = step({ outcome: one, tookMs: 10, coldStarts, tried, recovered });
        if (next.next === 'none') break;
        steps++;
        if (next.next === 'retry') coldStarts++;
        if (next.next === 'continue') recovered = true;
        if (next.next === 'fallback') {
          expect(tried).not.toContain(next.plan.model);
          tried.push(next.plan.model ?? '');
        }
      }
      expect(steps).toBeLessThanOrEqual(3 + 2 + 1);
    }),
  );
});

describe('what earlier runners have tried', () => {
  const failed = (next: 'retry' | 'fallback' | 'continue', model: string | null) =>
    ({ ...oneOfEach['child.attempt.failed'], next, model }) as const;

  test('is nothing in a run that was not lost', () => {
    expect(attemptsSoFar(plan, [], 1)).toEqual({ plan, coldStarts: 0, tried: [], recovered: false });
  });

  test('decides the model: the first one after those that failed, in the order of the agent', () => {
    const once = attemptsSoFar(plan, lines([failed('fallback', 'fake/first')]), 1);
    expect(once).toMatchObject({ plan: { model: 'fake/second' }, tried: ['fake/first'] });
    const twice = lines([failed('fallback', 'fake/first'), failed('fallback', 'fake/second')]);
    expect(attemptsSoFar(plan, twice, 1)).toMatchObject({
      plan: { model: 'fake/third' },
      tried: ['fake/first', 'fake/second'],
    });
    // The policy goes on where it stood.
    const { tried } = attemptsSoFar(plan, twice, 1);
    expect(step({ outcome: modelError('429'), tried: [...tried, 'fake/third'] })).toEqual({ next: 'none' });
  });

  test('counts starts that failed, and remembers that an abort was recovered from', () => {
    const earlier = lines([failed('retry', null), failed('retry', null), failed('continue', 'fake/first')]);
    expect(attemptsSoFar(plan, earlier, 1)).toEqual({
      plan,
      coldStarts: 2,
      tried: ['fake/first'],
      recovered: true,
    });
  });

  test('changes no model that was named for the run', () => {
    const named = { ...plan, model: 'fake/first', modelIsExplicit: true };
    expect(attemptsSoFar(named, lines([failed('fallback', 'fake/first')]), 1).plan).toEqual(named);
  });
});
