import { describe, expect, it } from 'vitest';
import { engineWorker, P, play, replay, rows } from './workflow.ts';

describe('the end of a workflow', () => {
  it('wf-73 all outstanding keys are named in launch order, and settled children are kept', async () => {
    const { error, partialChildren, abortedKeys } = await play(
      `await runs.run('seen', ${P}); runs.run('c', ${P}); runs.run('a', ${P}); runs.all([{key: 'b', ...${P}}]); return 1`,
      { children: { a: 'open' } },
    );
    expect(error).toMatchObject({
      kind: 'unawaited',
      message: expect.stringMatching(/'c', 'a', 'b'.*runs\.all.*\.output/s),
    });
    expect(partialChildren.map(({ key }) => key)).toEqual(['seen']);
    expect(abortedKeys).toEqual(['c', 'a', 'b']);
  });

  it('finishing is not observing: a settled child that nobody awaited fails the workflow', async () => {
    const { error } = await play(`runs.run('a', ${P}); await runs.run('b', ${P}); await runs.run('c', ${P}); return 1`);
    expect(error).toMatchObject({ kind: 'unawaited', message: expect.stringContaining("'a'") });
  });

  it('wf-74 an awaited race ends the workflow at once and aborts the loser', async () => {
    const execution = await play(`return (await Promise.race([runs.run('a', ${P}), runs.run('b', ${P})])).key`, {
      children: { b: 'open' },
    });
    expect(execution).toMatchObject({ ok: true, value: 'a', abortedKeys: ['b'] });
    expect(execution.launched.find(({ key }) => key === 'b')?.signal.aborted).toBe(true);
    expect(rows(execution)).toEqual(['run a started', 'run b started', 'run a completed', 'run b stopped']);
  });

  it('wf-75 at the deadline children under way are aborted and the outcome says timeout', async () => {
    const execution = await play(`await runs.run('a', ${P}); emit('one'); await runs.run('b', ${P})`, {
      children: { b: 'open' },
      timeoutMs: 3000,
    });
    expect(execution.error).toEqual({ kind: 'timeout', message: 'The workflow timed out after 3000 ms.' });
    expect(execution.terminalOutcome).toEqual({ state: 'partial', reason: 'timeout' });
    expect(execution.launched[1]?.signal.aborted).toBe(true);
    expect(execution.abortedKeys).toEqual(['b']);
    expect(execution.partialChildren.map(({ key }) => key)).toEqual(['a']);
    expect(execution.trace.at(-1)).toMatchObject({
      key: 'b',
      state: 'stopped',
      error: expect.stringContaining('timed out'),
    });
  });

  it('H10 a deadline that no timer can have is refused with the reason', async () => {
    for (const timeoutMs of [2 ** 31, 0, -1, 1.5, Number.NaN]) {
      expect((await play('return 1', { timeoutMs })).error).toMatchObject({
        kind: 'validation',
        message: expect.stringContaining('timeoutMs'),
      });
    }
    expect(await play('return 1', { timeoutMs: 2 ** 31 - 1 })).toMatchObject({ ok: true });
  });

  it('wf-76 after a stop nothing more starts, rows become stopped, late answers add nothing', async () => {
    const controller = new AbortController();
    const execution = await play(
      `await runs.all(['a', 'b', 'c'].map(key => ({key, ...${P}}))); await runs.run('d', ${P})`,
      {
        globalConcurrencyLimit: 2,
        signal: controller.signal,
        children: { a: 'open', b: 'open', c: 'open' },
        onLaunch: (call, all) => {
          if (call.key !== 'b') return;
          controller.abort(new Error('by hand'));
          for (const each of all) each.settle({ ok: true, output: 'late' });
        },
      },
    );
    expect(execution.ok).toBe(false);
    expect(execution.error?.message).toContain('by hand');
    expect(execution.keys).toEqual(['a', 'b']);
    expect(execution.abortedKeys).toEqual(['a', 'b', 'c']);
    expect(rows(execution)).toEqual([
      'run a started',
      'run b started',
      'run c started',
      'run a stopped',
      'run b stopped',
      'run c stopped',
    ]);
    expect(execution.trace.at(-1)?.error).toContain('by hand');
    const before = await play(`await runs.run('a', ${P})`, { signal: AbortSignal.abort(new Error('never')) });
    expect(before).toMatchObject({ ok: false, keys: [], trace: [] });
  });

  it('wf-77 a stopped child leaves its siblings running and the script goes on', async () => {
    const { value } = await play(
      `const all = await runs.all(['a', 'b'].map(key => ({key, ...${P}}))); return all.map(r => [r.ok, r.stopped === true])`,
      {
        children: { a: { stopped: true, output: '' } },
      },
    );
    expect(value).toEqual([
      [false, true],
      [true, false],
    ]);
  });

  it('wf-78 an exhausted usage budget refuses later launches only', async () => {
    const usage = { input: 600, output: 500, cost: 0.1 };
    const script = `const out = []; for (const k of ['a', 'b', 'c']) { try { out.push((await runs.run(k, ${P})).output) } catch (e) { out.push(e.message) } } return out`;
    const budget = { tokens: { soft: 500, hard: 2000 } };
    const children = { a: { ok: true, output: 'a', usage }, b: { ok: true, output: 'b', usage } };
    const execution = await play(script, { usageBudget: budget, children });
    expect(execution.value).toEqual([
      'a',
      'b',
      expect.stringMatching(/usage budget is exhausted: 2200 of 2000 tokens/),
    ]);
    expect(execution.keys).toEqual(['a', 'b']);
    expect(execution.terminalOutcome).toBeUndefined();
    const failing = await play(`await runs.run('a', ${P}); await runs.run('b', ${P}); await runs.run('c', ${P})`, {
      usageBudget: budget,
      children,
    });
    expect(failing.terminalOutcome).toEqual({ state: 'partial', reason: 'budget_exhausted' });
    for (const usageBudget of [{}, { tokens: { hard: 0 } }, { tokens: { soft: 3, hard: 2 } }]) {
      expect((await play('return 1', { usageBudget })).error).toMatchObject({
        kind: 'validation',
        message: expect.stringContaining('usageBudget'),
      });
    }
  });

  it('wf-79 the spawn limit refuses the whole batch with counts; reuse and resumes are free', async () => {
    const execution = await play(
      `await runs.run('a', ${P}); await runs.run('a', ${P}); await runs.run('r', {resume: 'x', task: 't'});
       const all = await runs.all(['b', 'c', 'd'].map(key => ({key, ...${P}}))); let one; try { await runs.run('e', ${P}); await runs.run('f', ${P}); await runs.run('g', ${P}) } catch (e) { one = [e.message, e.kind] }
       return [all.map(r => [r.ok, r.error]), one]`,
      { maxSubagentSpawnsPerRun: 3 },
    );
    const [batch, one] = execution.value as [[boolean, string][], [string, string]];
    expect(batch.map(([ok]) => ok)).toEqual([false, false, false]);
    expect(batch[0]?.[1]).toMatch(
      /'b', 'c', 'd'.*1 of 3.*3 more.*2 remain.*No child of the group.*Raise maxSubagentSpawnsPerRun/s,
    );
    expect(one).toEqual([expect.stringContaining("Run 'g' failed"), 'limit']);
    expect(execution.keys).toEqual(['a', 'r', 'e', 'f']);
    expect(rows(execution)).toEqual(expect.arrayContaining(['run b failed', 'run c failed', 'run d failed']));
    const standard = await play(`await runs.all(Array.from({length: 65}, (_, i) => ({key: 'k' + i, ...${P}})))`);
    expect(standard.keys).toEqual([]);
  });

  it('wf-81 every failure has emits, console, trace and children in launch order', async () => {
    const endings = [
      `throw new Error('x')`,
      `return () => 1`,
      `runs.run('never', ${P}); return 1`,
      'await new Promise(() => {})',
      'while (true) {}',
      `let s = 'x'; for (;;) s = [s, s].join('') + s`,
    ];
    for (const ending of endings) {
      const execution = await play(
        `emit('e'); console.log('c'); await runs.all([{key: 'b', ...${P}}, {key: 'a', ...${P}}]); ${ending}`,
        { timeoutMs: 3000 },
      );
      expect(execution.ok).toBe(false);
      expect(execution.emits).toEqual(['e']);
      expect(execution.console).toEqual([{ level: 'log', text: 'c' }]);
      expect(execution.partialChildren.map(({ key }) => key)).toEqual(['b', 'a']);
      expect(rows(execution).slice(0, 4)).toEqual([
        'run b started',
        'run a started',
        'run b completed',
        'run a completed',
      ]);
    }
  });

  it('H9 a body that can never go on is a deadlock, found at once', async () => {
    for (const script of [
      'await new Promise(() => {})',
      `await runs.run('a', ${P}); await Promise.race([])`,
      `await Promise.withResolvers().promise`,
    ]) {
      expect((await play(script)).error?.kind).toBe('deadlock');
    }
  });

  it('B72 after the deadline nothing starts any more', async () => {
    const keys = Array.from({ length: 10 }, (_, index) => `k${index}`);
    const execution = await play(
      `await runs.all(${JSON.stringify(keys)}.map(key => ({key, ...${P}}))); for (let i = 0; ; i++) await runs.run('more' + i, ${P})`,
      { timeoutMs: 500, children: Object.fromEntries(keys.map((key) => [key, 'open' as const])) },
    );
    expect(execution.error?.kind).toBe('timeout');
    expect(execution.launched.every(({ signal }) => signal.aborted)).toBe(true);
    for (const call of execution.launched) call.settle({ ok: true, output: 'late' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(execution.keys).toEqual(keys);
  });

  it('H6 an error has the line and column of the script and no frame of ours', async () => {
    const { error } = await play(`const a = 1;\nfunction deep() {\n  throw new TypeError('mine');\n}\n\ndeep();`);
    expect(error).toMatchObject({ kind: 'script', line: 3, message: expect.stringContaining('TypeError: mine') });
    expect(error?.message.match(/\(?[\w.<>/-]+:\d+:\d+\)?/g)?.every((frame) => frame.includes('workflow.js:'))).toBe(
      true,
    );
    expect((await play('null.x')).error).toMatchObject({ line: 1, column: 1 });
  });
});

const HOSTILE: [what: string, script: string, kind: string | RegExp][] = [
  ['a loop', 'while (true) {}', 'timeout'],
  ['a loop in try and catch', 'for (;;) { try { while (true) {} } catch {} }', 'timeout'],
  ['recursion in finally', 'function f() { try { f() } finally { f() } } f()', 'timeout'],
  ['a regular expression with nested stars', `/(?:(?:(?:a)*)*)*b/.test('a'.repeat(40))`, 'timeout'],
  ['a regular expression that doubles', `/^(a+)+$/.test('a'.repeat(40) + 'b')`, 'timeout'],
  ['awaiting for ever', 'for (;;) await null', 'timeout'],
  ['an endless chain', 'const next = () => Promise.resolve().then(next); await next()', 'timeout'],
  ['indexOf on a length of 2^32', '[].indexOf.call({length: 2 ** 32}, 1)', 'timeout'],
  ['includes on a length of 2^53', '[].includes.call({length: 2 ** 53 - 1}, 1)', 'timeout'],
  [
    'indexOf of a long needle, which cannot be interrupted',
    `const t = 'a'.repeat(3e7), n = 'a'.repeat(1e6) + 'b'; for (;;) t.indexOf(n)`,
    'timeout',
  ],
  ['a flood of calls', `for (let i = 0; ; i++) { try { runs.status('x' + i) } catch {} }`, 'timeout'],
  ['a flood of console lines', `for (;;) console.log('x'.repeat(1000))`, 'timeout'],
  ['a flood of emits', `for (;;) { try { emit('x'.repeat(1e5)) } catch {} }`, 'timeout'],
  ['deep recursion', 'function f() { return f() + 1 } f()', 'script'],
  ['nested arrays to text', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a)', 'script'],
  ['JSON of depth 200,000', 'let a = []; for (let i = 0; i < 2e5; i++) a = [a]; JSON.stringify(a)', 'script'],
  ['a chain of 100,000 proxies', 'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x', 'script'],
  ['a huge power', 'return (3n ** 3000000n) > 1n', 'script'],
  ['doubling a string', `let s = 'x'; for (;;) s += s`, /limit|script/],
  ['an array of strings', `const a = []; for (;;) a.push('x'.repeat(1e5) + a.length)`, 'limit'],
  ['array buffers', 'const a = []; for (;;) a.push(new Uint8Array(1e6))', /limit|script/],
  ['a long split', `'x'.repeat(3e7).split('')`, /limit|script/],
  ['a long join', `new Array(1e7).join('xxxxxxxxxxxx')`, /limit|script/],
  ['a long replace', `'x'.repeat(5e7).replace(/x/g, 'yy')`, /limit|script|timeout/],
  ['deep nesting of what is returned', 'let a = []; for (let i = 0; i < 2e5; i++) a = [a]; return a', 'boundary'],
  ['20,000 parentheses', `return ${'('.repeat(20_000)}1${')'.repeat(20_000)}`, 'syntax'],
];

describe('hostile programs', () => {
  for (const [what, script, kind] of HOSTILE) {
    it(`wf-13 ${what} ends as ${String(kind)}, and the host stays awake`, { timeout: 90_000 }, async () => {
      await engineWorker();
      const loop = watchLoop();
      const execution = await play(script, {
        timeoutMs: kind === 'timeout' ? 800 : 60_000,
        host: { status: () => ({ ok: true }) },
      });
      expect(execution.error?.kind).toMatch(kind);
      expect(execution.keys).toEqual([]);
      expect(loop.p99()).toBeLessThan(50);
    });
  }

  it('wf-14 overflow can be caught, and the script goes on', async () => {
    const { value } = await play(
      `function f() { f() } try { f() } catch (e) { return [e.name, (await runs.run('a', ${P})).output] }`,
    );
    expect(value).toEqual(['RangeError', 'a done']);
  });

  it('interrupted at the deadline, the same again on replay', async () => {
    const execution = await play(
      `emit('before'); await runs.run('a', ${P}); let n = 0; for (;;) { n++; if (n % 100000 === 0) emit(n) }`,
      { timeoutMs: 1500 },
    );
    expect(execution.error?.kind).toBe('timeout');
    expect(execution.emits.length).toBeGreaterThan(1);
    const { record: _, launched: _l, keys: _k, ...rest } = execution;
    expect(await replay(execution.record)).toEqual(rest);
  });
});

/**
 * How long this thread's loop was held up by its own work, in milliseconds between two ticks. Measured in processor time: a machine
 * under load holds up every loop, which says nothing about ours.
 */
function watchLoop(): { p99: () => number } {
  const busy: number[] = [];
  const used = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let last = used();
  const timer = setInterval(() => {
    const now = used();
    busy.push(now - last);
    last = now;
  }, 2);
  return {
    p99: () => {
      clearInterval(timer);
      const sorted = busy.toSorted((a, b) => a - b);
      return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
    },
  };
}
