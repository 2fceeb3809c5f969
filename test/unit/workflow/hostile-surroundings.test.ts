/** Hosts, options and records that nobody would write on purpose: each ends with a result or an error that says what is wrong. */
import { describe, expect, it } from 'vitest';
import { P, play, replay } from './workflow.ts';

const unreadable: Record<string, () => unknown> = {
  'an object that is no text': () => ({
    toString() {
      throw new Error('toString');
    },
  }),
  'an object without prototype': () => Object.create(null),
  'an error whose message throws': () =>
    Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('getter');
      },
    }),
  'a proxy that throws': () =>
    new Proxy(new Error('x'), {
      getPrototypeOf() {
        throw new Error('trap');
      },
    }),
};

describe('what a host throws', () => {
  it.each(Object.entries(unreadable))('%s: the child failed, and the workflow goes on', async (_, make) => {
    const reject = () => Promise.reject(make());
    const execution = await play(
      `const out = [];
       for (const call of [() => runs.run('a', ${P}), () => runs.status('a'), () => runs.host('h', {kind: 'command', command: 'c', timeoutMs: 5}), () => state.get('k')]) {
         try { await call(); out.push('done') } catch (e) { out.push(e.message.includes('cannot be read')) }
       }
       out.push((await runs.steer('a', 'm')).error); return out`,
      {
        host: { launch: reject, status: reject, hostCommand: reject, steer: reject },
        state: { get: reject, set: reject },
      },
    );
    expect(execution.value).toEqual([true, true, true, true, 'an error that cannot be read']);
    expect((await replay(execution.record)).value).toEqual(execution.value);
  });

  it('symbols, nothing and texts are shown', async () => {
    for (const [thrown, shown] of [
      [Symbol('s'), 'Symbol(s)'],
      [undefined, 'undefined'],
      ['words', 'words'],
    ] as const) {
      const { error } = await play(`await runs.run('a', ${P})`, { host: { launch: () => Promise.reject(thrown) } });
      expect(error?.message).toContain(`Run 'a' failed: ${shown}`);
    }
  });
});

describe('a signal', () => {
  it.each(Object.entries(unreadable))('aborted because of %s stops the workflow', async (_, make) => {
    const { error, launched } = await play(`await runs.run('a', ${P})`, { signal: AbortSignal.abort(make()) });
    expect(error).toEqual({ kind: 'engine', message: 'The workflow was stopped: an error that cannot be read' });
    expect(launched).toEqual([]);
  });

  it('that is none is refused', async () => {
    const options: object = { signal: {} };
    const { error } = await play('return 1', options);
    expect(error).toEqual({ kind: 'validation', message: 'The workflow was not started: signal is no AbortSignal.' });
  });
});

describe('a record', () => {
  it.each([
    ['nothing', undefined],
    ['a number', 5],
    ['an empty object', {}],
    ['another version', (good: object) => ({ ...good, version: 2 })],
    ['no settings', (good: object) => ({ ...good, settings: undefined })],
    ['settings without limits', (good: object) => ({ ...good, settings: {} })],
    ['steps that are none', (good: object) => ({ ...good, steps: [null] })],
    ['steps without facts', (good: object) => ({ ...good, steps: [{ at: 1 }] })],
    ['facts without keys', (good: object) => ({ ...good, steps: [{ at: 1, facts: [{ id: 1, ok: true }] }] })],
    ['nothing late', (good: object) => ({ ...good, late: undefined })],
    ['a seed that is none', (good: object) => ({ ...good, seed: 'x' })],
  ])('%s is refused by name', async (_, wrong) => {
    const { record } = await play('return 1');
    const given: unknown = typeof wrong === 'function' ? wrong(Object(record)) : wrong;
    await expect((async () => replay(given ?? null))()).rejects.toThrow(/^The record is none of executeWorkflow/);
  });

  it('of a workflow that was not started says so again', async () => {
    const { error, record } = await play('return 1', { timeoutMs: 0 });
    expect(error?.kind).toBe('validation');
    expect((await replay(record)).error).toEqual(error);
  });
});

describe('an interrupt', () => {
  // A handler of a promise turns it into a rejection, which a script can catch.
  it.each([
    `try { await Promise.resolve().then(() => { for (;;); }) } catch {} emit('after'); return 'escaped'`,
    `try { await {then() { for (;;); }} } catch {} emit('after'); return 'escaped'`,
    `return Promise.resolve().finally(() => { for (;;); }).catch(() => { emit('after'); return 'escaped' })`,
    `const o = {then(r) { r(o) }}; try { await o } catch {} emit('after'); return 'escaped'`,
    `Promise.reject(1).catch(() => { for (;;); }).catch(() => runs.run('late', ${P})); await new Promise(() => {})`,
  ])('cannot be caught: %s', async (script) => {
    const execution = await play(script, { timeoutMs: 300 });
    expect(execution.error).toMatchObject({ kind: 'timeout' });
    expect(execution.emits).toEqual([]);
    expect(execution.launched).toEqual([]);
    const again = await replay(execution.record);
    expect(again.error).toEqual(execution.error);
    expect(again.trace).toEqual(execution.trace);
  });
});

describe('what a script throws', () => {
  it.each([
    ['throw new Error()', /^Error\n {4}at workflow\.js:1:/],
    ['throw new TypeError()', /^TypeError\n/],
    [
      `throw Object.defineProperties(new Error('x'), {message: {get() { throw 1 }}, name: {get() { throw 2 }}, stack: {get() { throw 3 }}})`,
      /^Error$/,
    ],
  ])('always says something: %s', async (script, expected) => {
    const { error } = await play(script);
    expect(error).toMatchObject({ kind: 'script', message: expect.stringMatching(expected) });
  });

  it('is cut to a length that can be shown', async () => {
    const { error } = await play(`const e = new Error('x'.repeat(1e6)); e.stack = 'y'.repeat(1e6); throw e`);
    expect(error?.message).toHaveLength(2 * 16_384 + 1);
  });

  it('is not written out at all when a value is too large to cross', async () => {
    const { error } = await play(`emit('x'.repeat(9e6))`);
    expect(error).toMatchObject({
      kind: 'limit',
      message: expect.stringMatching(/^emit has more than 8388608 characters/),
    });
  });
});
