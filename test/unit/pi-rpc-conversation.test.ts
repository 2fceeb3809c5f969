import { describe, expect, it } from 'vitest';
import {
  applyRecord,
  type Conversation,
  NEW_CONVERSATION,
  nextPrompt,
  progressOf,
} from '../../src/core/children/pi-rpc/conversation.ts';
import { judgeOutcome, type OutcomeFacts } from '../../src/core/children/pi-rpc/outcome.ts';
import type { PiRecord } from '../../src/core/children/pi-rpc/records.ts';
import { NO_USAGE } from '../../src/protocol/index.ts';

const NEW_PI = { reportsSettled: true };
const OLD_PI = { reportsSettled: false };

/** The conversation after these records. */
const played = (records: readonly PiRecord[], options = NEW_PI, from: Conversation = NEW_CONVERSATION) =>
  records.reduce((state, record) => applyRecord(state, record, options), from);

const usage = (input: number, cost: number) => ({
  input,
  output: 1,
  cacheRead: 2,
  cacheWrite: 3,
  cost: { total: cost },
});
const says = (text: string, more: object = {}): PiRecord => ({
  type: 'message_end',
  message: { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop', ...more },
});
const starts = (id: string, tool: string): PiRecord => ({
  type: 'tool_execution_start',
  toolCallId: id,
  toolName: tool,
  args: {},
});
const ends = (id: string, tool: string): PiRecord => ({
  type: 'tool_execution_end',
  toolCallId: id,
  toolName: tool,
  isError: false,
});
const retry: PiRecord = { type: 'auto_retry_start', attempt: 1, maxAttempts: 3, delayMs: 50, errorMessage: '529' };
const end = (willRetry?: boolean): PiRecord => ({
  type: 'agent_end',
  ...(willRetry === undefined ? {} : { willRetry }),
});
const settled: PiRecord = { type: 'agent_settled', aborted: false };

describe('when work is over', () => {
  it('is said by agent_settled where Pi reports it, and by nothing else', () => {
    const records: PiRecord[] = [
      { type: 'agent_start' },
      { type: 'turn_start' },
      says('done'),
      { type: 'turn_end' },
      end(false),
    ];
    expect(played(records).settled).toBe('no');
    expect(played([...records, settled])).toMatchObject({ settled: 'yes', phase: 'idle', aborted: false });
  });

  it('is a guess after agent_end where Pi does not (0.73)', () => {
    expect(played([{ type: 'agent_start' }, says('done'), end()], OLD_PI).settled).toBe('tentative');
  });

  it('run-12 is not over when a retry is announced, with both kinds of Pi', () => {
    const begun: PiRecord[] = [{ type: 'agent_start' }, says('', { stopReason: 'error', errorMessage: '529' })];
    expect(played([...begun, end(true)], NEW_PI).settled).toBe('no');
    expect(played([...begun, end(true)], OLD_PI).settled).toBe('no');
    const waiting = played([...begun, end(), retry], OLD_PI);
    expect(waiting).toMatchObject({ settled: 'no', phase: 'retrying' });
    const again = played(
      [{ type: 'auto_retry_end', success: true }, { type: 'agent_start' }, says('ok'), end()],
      OLD_PI,
      waiting,
    );
    expect(again).toMatchObject({ settled: 'tentative', lastAssistant: { text: 'ok', stopReason: 'stop' } });
  });

  it('is not over when a compaction or another turn follows', () => {
    const guess = played([says('done'), end()], OLD_PI);
    expect(guess.settled).toBe('tentative');
    const next: PiRecord[] = [
      { type: 'compaction_start', reason: 'threshold' },
      { type: 'agent_start' },
      { type: 'turn_start' },
    ];
    for (const record of next) expect(played([record], OLD_PI, guess).settled, record.type).toBe('no');
    expect(played([settled, { type: 'agent_start' }], NEW_PI, guess).settled).toBe('no');
  });

  it('shows that the end is near, unless more is announced', () => {
    for (const options of [NEW_PI, OLD_PI]) {
      const begun = played([{ type: 'agent_start' }, says('done')], options);
      expect(applyRecord(begun, end(true), options).phase).toBe('thinking');
      const ending = applyRecord(begun, end(false), options);
      expect(ending.phase).toBe('ending');
      // A message that waited is taken up after all.
      expect(applyRecord(ending, { type: 'agent_start' }, options)).toMatchObject({ phase: 'thinking', settled: 'no' });
    }
  });

  it('says when it was aborted', () => {
    expect(played([{ type: 'agent_settled', aborted: true }])).toMatchObject({ settled: 'yes', aborted: true });
    expect(played([{ type: 'agent_settled' }]).aborted).toBe(false);
  });
});

describe('another prompt', () => {
  const first = played([
    { type: 'agent_start' },
    starts('1', 'bash'),
    says('so far', { usage: usage(10, 1) }),
    settled,
  ]);
  const aborted = played([{ type: 'agent_settled', aborted: true }], NEW_PI, first);

  it('begins with an open verdict, on the totals of what came before', () => {
    expect(nextPrompt(aborted)).toMatchObject({ settled: 'no', aborted: false, lastAssistant: undefined });
    expect(nextPrompt(played([starts('2', 'read')], NEW_PI, aborted)).tools.size).toBe(0);
    const after = played(
      [{ type: 'agent_start' }, says('done', { usage: usage(5, 2) }), settled],
      NEW_PI,
      nextPrompt(aborted),
    );
    expect(after).toMatchObject({ settled: 'yes', lastAssistant: { text: 'done' }, aborted: false });
    expect(progressOf(after)).toMatchObject({ turns: 2, toolCalls: 1, usage: { input: 15, cost: 3 } });
    expect(judgeOutcome({ conversation: after, stderr: '' })).toMatchObject({ state: 'complete', text: 'done' });
  });

  it('that nothing answers is not judged by the answer to the one before', () => {
    const silent = played([settled], NEW_PI, nextPrompt(first));
    expect(judgeOutcome({ conversation: silent, stderr: '' })).toMatchObject({
      state: 'failed',
      text: '',
      error: { code: 'child_empty_output' },
    });
  });
});

describe('what a child is doing', () => {
  it('follows its records', () => {
    const steps: [PiRecord, string, string | null][] = [
      [{ type: 'agent_start' }, 'thinking', null],
      [{ type: 'turn_start' }, 'thinking', null],
      [starts('1', 'bash'), 'tool', 'bash'],
      [starts('2', 'read'), 'tool', 'read'],
      [ends('2', 'read'), 'tool', 'bash'],
      [ends('1', 'bash'), 'thinking', null],
      [retry, 'retrying', null],
      [{ type: 'auto_retry_end', success: false }, 'thinking', null],
      [{ type: 'compaction_start', reason: 'overflow' }, 'compacting', null],
      [{ type: 'compaction_end', reason: 'overflow' }, 'thinking', null],
      [starts('3', 'bash'), 'tool', 'bash'],
      [settled, 'idle', null],
    ];
    let state = NEW_CONVERSATION;
    for (const [record, phase, tool] of steps) {
      state = applyRecord(state, record, NEW_PI);
      expect(progressOf(state), record.type).toMatchObject({ phase, tool });
    }
    expect(state.toolCalls).toBe(3);
    expect(state.tools.size).toBe(0);
  });

  it('is told from its own messages only', () => {
    const other = (role: string): PiRecord => ({
      type: 'message_end',
      message: { role, content: 'x', usage: usage(9, 9) },
    });
    expect(played(['user', 'system', 'toolResult', 'custom'].map(other))).toEqual(NEW_CONVERSATION);
  });

  it('adds up turns, tokens and cost', () => {
    const state = played([
      says('a', { usage: usage(100, 0.5) }),
      says('b'),
      says('c', { usage: { ...usage(10, 0), cost: undefined } }),
    ]);
    expect(progressOf(state)).toEqual({
      phase: 'idle',
      tool: null,
      turns: 3,
      toolCalls: 0,
      usage: { input: 110, output: 2, cacheRead: 4, cacheWrite: 6, cost: 0.5 },
    });
    expect(NEW_CONVERSATION.usage).toEqual(NO_USAGE);
  });

  it('remembers the last words when empty messages follow, and over the next prompt', () => {
    const state = played([says('Let me look.'), starts('1', 'bash'), says('', { stopReason: 'aborted' }), says(' \n')]);
    expect(state).toMatchObject({ lastWords: 'Let me look.', lastAssistant: { text: ' \n' } });
    expect(nextPrompt(state)).toMatchObject({ lastWords: 'Let me look.', lastAssistant: undefined });
    expect(NEW_CONVERSATION.lastWords).toBe('');
  });

  it('keeps the last thing it said, joined from its text parts', () => {
    const content = [
      { type: 'thinking', thinking: 'hm' } as const,
      { type: 'text', text: 'one ' } as const,
      { type: 'text', text: 'two' } as const,
    ];
    const state = played([says('first'), { type: 'message_end', message: { role: 'assistant', content } }]);
    expect(state.lastAssistant).toEqual({ text: 'one two', stopReason: 'stop', errorMessage: undefined });
  });

  it('is the same object when a record changes nothing', () => {
    const quiet: PiRecord[] = [{ type: 'turn_end' }, { type: 'message_start', message: { role: 'user' } }, end(false)];
    for (const record of quiet) expect(applyRecord(NEW_CONVERSATION, record, NEW_PI)).toBe(NEW_CONVERSATION);
  });

  it('never changes the state it was given', () => {
    const before = played([starts('1', 'bash')]);
    played([starts('2', 'read'), ends('1', 'bash'), settled], NEW_PI, before);
    expect([...before.tools]).toEqual([['1', 'bash']]);
  });
});

describe('how work came out', () => {
  const outcome = (records: readonly PiRecord[], facts: Partial<OutcomeFacts> = {}) =>
    judgeOutcome({ conversation: played(records), stderr: '', ...facts });
  const exited = (exitCode: number) => ({ exit: { exitCode, signal: null } });
  const failedModel = says('', { stopReason: 'error', errorMessage: '500: overloaded' });

  it('is complete with a useful last answer', () => {
    const found = outcome([says('part', { usage: usage(5, 0.1) }), says('The answer.'), settled]);
    expect(found).toEqual({
      state: 'complete',
      stopReason: 'stop',
      text: 'The answer.',
      lastWords: 'The answer.',
      error: null,
      progress: expect.objectContaining({ turns: 2, phase: 'idle', usage: expect.objectContaining({ input: 5 }) }),
      exited: false,
      inactive: false,
    });
    expect(outcome([says('The answer.')], exited(0))).toMatchObject({ state: 'complete', error: null, exited: true });
  });

  it('tells whether the child went away by itself, and whether it had begun', () => {
    expect(outcome([], exited(1))).toMatchObject({ exited: true, inactive: true });
    const signs: PiRecord[] = [{ type: 'agent_start' }, { type: 'turn_start' }, says('x'), starts('1', 'bash')];
    for (const sign of signs) expect(outcome([sign], exited(1)), sign.type).toMatchObject({ inactive: false });
    // What others say is no sign of work, nor is a retry before anything began.
    const user: PiRecord = { type: 'message_end', message: { role: 'user', content: 'do it' } };
    expect(outcome([user, settled])).toMatchObject({ exited: false, inactive: true });
  });

  it('keeps the part of an answer that had not ended', () => {
    expect(outcome([says('first')], { partial: 'The second is', ...exited(1) })).toMatchObject({
      state: 'failed',
      text: 'The second is',
    });
    expect(outcome([says('first')], { partial: '', ...exited(1) }).text).toBe('first');
  });

  it.each<[string, Partial<OutcomeFacts>]>([
    ['settled', {}],
    ['exit 0', exited(0)],
  ])('run-16 a provider error is a failed attempt, %s or not', (_, facts) => {
    expect(outcome([failedModel], { ...facts, stderr: 'trace\n' })).toMatchObject({
      state: 'failed',
      stopReason: 'error',
      error: {
        code: 'child_model_error',
        message: 'The model failed: 500: overloaded\nLast lines of its error output:\ntrace',
        hint: expect.stringContaining('credentials'),
      },
    });
  });

  it('run-16 an empty answer is a failed attempt', () => {
    for (const facts of [{}, exited(0)])
      expect(outcome([says(' \n')], facts)).toMatchObject({ state: 'failed', error: { code: 'child_empty_output' } });
    expect(outcome([settled])).toMatchObject({
      state: 'failed',
      stopReason: null,
      text: '',
      error: { code: 'child_empty_output', message: 'The child ended without an answer.' },
    });
  });

  it('run-16 a recovered error followed by useful output is success', () => {
    const found = outcome([failedModel, retry, { type: 'auto_retry_end', success: true }, says('Useful.'), settled]);
    expect(found).toMatchObject({ state: 'complete', text: 'Useful.', error: null });
  });

  it('run-15 an exit during a tool call is a failure in mid-tool', () => {
    const records = [says('Let me look.', { stopReason: 'toolUse' }), starts('1', 'read'), starts('2', 'bash')];
    for (const code of [0, 1]) {
      expect(outcome(records, exited(code))).toMatchObject({
        state: 'failed',
        text: 'Let me look.',
        error: { code: 'child_mid_tool', message: `The child exited (code ${code}) while its tool bash was running.` },
      });
    }
  });

  it('run-19 a child killed by a signal from outside is stopped', () => {
    const exit = { exitCode: null, signal: 'SIGKILL' } as const;
    expect(outcome([says('half'), starts('1', 'bash')], { exit })).toMatchObject({
      state: 'stopped',
      text: 'half',
      error: { code: 'child_exited', message: 'The child was ended from outside by SIGKILL.' },
    });
  });

  it.each([
    [143, 'SIGTERM'],
    [129, 'SIGHUP'],
  ])('run-19 exit code %i is how Pi obeys %s: stopped as well, also in a tool', (exitCode, signal) => {
    expect(outcome([says('half'), starts('1', 'bash')], exited(exitCode))).toMatchObject({
      state: 'stopped',
      text: 'half',
      exited: true,
      error: { code: 'child_exited', message: `The child was ended from outside by ${signal}.` },
    });
  });

  it('an exit that is not clean, or before any answer, is a failure with what it printed', () => {
    expect(outcome([says('nearly')], { ...exited(7), stderr: 'boom\n\n' })).toMatchObject({
      state: 'failed',
      text: 'nearly',
      error: {
        code: 'child_exited',
        message: 'The child exited with code 7 before it was done.\nLast lines of its error output:\nboom',
      },
    });
    expect(outcome([], exited(0))).toMatchObject({ state: 'failed', error: { code: 'child_exited' } });
  });

  it('run-10 a broken limit wins over everything, with its own error', () => {
    const failure = { code: 'protocol_output_limit', message: 'Too long.', hint: 'Shorter.' } as const;
    expect(outcome([says('fine'), starts('1', 'bash')], { failure, ...exited(1) })).toMatchObject({
      state: 'failed',
      error: failure,
    });
    const plain = outcome([], { failure: { code: 'pi_failed', message: 'No.' } });
    expect(plain.error).toEqual({ code: 'pi_failed', message: 'No.' });
  });

  it('an abort between two messages leaves the words before it', () => {
    expect(outcome([says('Let me look.'), says('', { stopReason: 'aborted' }), settled])).toMatchObject({
      state: 'stopped',
      stopReason: 'aborted',
      text: '',
      lastWords: 'Let me look.',
    });
    expect(outcome([says('first')], { partial: 'The second is', ...exited(1) }).lastWords).toBe('The second is');
  });

  it('an aborted answer is stopped, without an error', () => {
    expect(outcome([says('so far', { stopReason: 'aborted' })])).toMatchObject({
      state: 'stopped',
      text: 'so far',
      error: null,
    });
  });

  it('an answer cut at the output limit is partial, and kept', () => {
    expect(outcome([says('long', { stopReason: 'length' })])).toMatchObject({
      state: 'partial',
      text: 'long',
      error: { code: 'child_output_cut', hint: expect.any(String) },
    });
  });

  it('an end after a tool call, before the model could answer, is a failure', () => {
    expect(outcome([says('calling', { stopReason: 'toolUse' })])).toMatchObject({
      state: 'failed',
      error: { code: 'child_exited', message: expect.stringContaining('after a tool call') },
    });
  });

  describe('where a structured answer is wanted', () => {
    const call = says('', { stopReason: 'toolUse' });
    const gives = [starts('a', 'structured_output'), ends('a', 'structured_output')];
    const wanted = { wantsAnswer: true };

    it.each([
      ['the call that gave it', [call, ...gives]],
      ['no words after it', [call, ...gives, says('')]],
      ['an answer of an earlier prompt', [call, ...gives, settled, { type: 'agent_start' } as const, says('')]],
    ])('it is complete with %s', (_, records) => {
      expect(outcome(records, wanted)).toMatchObject({ state: 'complete', error: null });
      // Only where one is wanted.
      expect(outcome(records).state).toBe('failed');
    });

    it('a model that failed, or was cut off, has not come to its end all the same', () => {
      for (const stopReason of ['error', 'length', 'aborted'])
        expect(outcome([call, ...gives, says('', { stopReason })], wanted).state).not.toBe('complete');
    });

    it('a call of another tool gives none', () => {
      const records = [call, starts('a', 'bash'), ends('a', 'bash')];
      expect(outcome(records, wanted).error?.code).toBe('child_exited');
    });

    it('the newest refused value is kept with what was said about it', () => {
      const refuses = (id: string, value: number): PiRecord[] => [
        { type: 'tool_execution_start', toolCallId: id, toolName: 'structured_output', args: { value } },
        {
          type: 'tool_execution_end',
          toolCallId: id,
          toolName: 'structured_output',
          isError: true,
          result: { content: [{ type: 'text', text: `not ${value}` }] },
        },
      ];
      const records = [call, ...refuses('a', 1), call, ...refuses('b', 2), says('done')];
      expect(outcome(records, wanted).refusedAnswer).toEqual({ value: { value: 2 }, reason: 'not 2' });
      expect(outcome([call, ...gives], wanted)).not.toHaveProperty('refusedAnswer');
    });
  });

  it('a blocked tool budget is told', () => {
    expect(outcome([says('done')], { toolBudgetBlocked: true })).toMatchObject({ toolBudgetBlocked: true });
    expect(outcome([says('done')])).not.toHaveProperty('toolBudgetBlocked');
  });
});
