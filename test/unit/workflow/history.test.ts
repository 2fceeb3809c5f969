import { describe, expect, it } from 'vitest';
import type { HistoryEntry, SteppedStep } from '../../../src/core/workflow/index.ts';
import { done, keep, saidOver } from './durable.ts';

const P = `{agent: 'w', task: 't'}`;

/** Entries up to the end of a step. */
function through(entries: readonly HistoryEntry[], step: number): HistoryEntry[] {
  return entries.slice(0, entries.findIndex((entry) => entry.type === 'stepped' && entry.step === step) + 1);
}

/** Children that never answer. */
const never = () => new Promise<never>(() => {});

const starts = (order: readonly string[]) => order.filter((each) => each.startsWith('start'));

describe('what a journal is told', () => {
  it('a step is told before anything of it starts, and its facts before they are delivered', async () => {
    let writing = false;
    const overlaps: string[] = [];
    const { order } = await keep({
      script: `await runs.all([{key: 'a', ...${P}}, {key: 'b', ...${P}}]); await runs.host('c', {kind: 'command', command: 'x', timeoutMs: 5}); state.set('d', 1)`,
      onStepped: async () => {
        writing = true;
        await new Promise((resolve) => setTimeout(resolve, 5));
        writing = false;
      },
      perform: async (effect) => {
        if (writing) overlaps.push(effect.type);
        return done(effect);
      },
    });
    expect(overlaps).toEqual([]);
    expect(order).toEqual([
      'delivered 1',
      'stepped 1',
      'start a',
      'start b',
      'delivered 2',
      'stepped 2',
      'start c',
      'delivered 3',
      'stepped 3',
      'start d',
      'late 4',
    ]);
  });

  it('has what waits for its turn, first come, first served', async () => {
    const { stepped } = await keep({
      script: `const first = runs.all(['a', 'b', 'c'].map((key) => ({key, ...${P}}))); const x = runs.run('x', ${P}); x.then(() => 0); await first; await x`,
      limits: { globalConcurrencyLimit: 2 },
      perform: async (effect) => done(effect),
    });
    expect(stepped[0]?.queue).toEqual({ added: [3, 4], length: 2 });
    expect(stepped.at(-1)).not.toHaveProperty('queue');
    expect(stepped.flatMap(({ queue }) => queue?.added ?? [])).toEqual([3, 4]);
  });

  it('has what was asked for, said and planned, and what starts now', async () => {
    const { stepped } = await keep({
      script: `emit({n: 1}); console.warn('two'); runs.run('x', ${P}); await runs.lanes([{key: 'l', stages: [{key: 's', agent: 'w', task: 't', label: ' first '}, {key: 'r', resume: 'previous', task: 'u'}]}])`,
      limits: { globalConcurrencyLimit: 1, maxSubagentSpawnsPerRun: 5 },
    });
    const fingerprint = expect.stringMatching(/^[0-9a-f]{16}$/);
    expect(stepped[0]).toEqual({
      step: 1,
      asks: [
        { id: 1, type: 'launch', key: 'x', asked: fingerprint },
        { id: 2, type: 'launch', key: 'l.s', asked: fingerprint },
      ],
      queue: { added: [2], length: 1 },
      emits: ['{"n":1}'],
      console: [{ level: 'warn', text: 'two' }],
      lanes: [
        {
          key: 'l',
          stages: [
            { key: 'l.s', label: 'first', agent: 'w' },
            { key: 'l.r', label: null, agent: null },
          ],
        },
      ],
      effects: [expect.objectContaining({ type: 'launch', key: 'x' })],
      // Also the one that waits for its turn.
      launches: [expect.objectContaining({ key: 'x' }), expect.objectContaining({ key: 'l.s' })],
      limits: { globalConcurrencyLimit: 1, maxSubagentSpawnsPerRun: 5 },
    } satisfies SteppedStep);
    expect(stepped[1]).toMatchObject({ asks: [], effects: [{ key: 'l.s' }], lanes: [] });
    expect(stepped[1]).not.toHaveProperty('queue');
    expect(stepped[2]).toMatchObject({ asks: [{ key: 'l.r' }], effects: [{ key: 'l.r' }] });
  });

  it('a refused call is asked for too, and starts nothing', async () => {
    const { stepped, order } = await keep({
      script: `await runs.all([{key: 'a', ...${P}}, {key: 'b', ...${P}}])`,
      limits: { maxSubagentSpawnsPerRun: 1 },
    });
    expect(stepped[0]).toMatchObject({ asks: [{ key: 'a' }, { key: 'b' }], effects: [] });
    expect(starts(order)).toEqual([]);
  });

  it.each([1, 2])('when step %i cannot be written down nothing of it starts', async (broken) => {
    const { result, order } = await keep({
      script: `await runs.run('a', ${P}); const h = runs.host('b', {kind: 'command', command: 'x', timeoutMs: 5}); await runs.run('c', ${P}); await h`,
      onStepped: ({ step }) => {
        if (step === broken) throw new Error('the disk is full');
      },
    });
    expect(result.error).toEqual({ kind: 'engine', message: 'the disk is full' });
    expect(starts(order)).toEqual(broken === 1 ? [] : ['start a']);
  });

  it('when what came late cannot be written down the execution has crashed', async () => {
    const { result } = await keep({
      script: 'state.set("a", 1); return 1',
      onDelivered: (step) => {
        if (step === 2) throw new Error('the disk is full');
      },
    });
    expect(result.error).toEqual({ kind: 'engine', message: 'the disk is full' });
  });

  it('when facts cannot be written down they are not delivered', async () => {
    const { result, record, order } = await keep({
      script: `await runs.run('a', ${P}); emit('after')`,
      onDelivered: (step) => {
        if (step === 2) throw new Error('the disk is full');
      },
    });
    expect(result).toMatchObject({ error: { kind: 'engine', message: 'the disk is full' }, emits: [] });
    expect(order.at(-1)).toBe('delivered 2');
    expect(record.end).toMatchObject({ type: 'crashed' });
  });
});

describe('going on', () => {
  it('starts nothing that has an answer, tells nothing again, and performs again what was under way', async () => {
    const script = `emit('one'); const r = await runs.run('a', ${P}); emit(r.output); await runs.all([{key: 'b', ...${P}}, {key: 'c', ...${P}}, {key: 'd', ...${P}}]); emit('end')`;
    const limits = { globalConcurrencyLimit: 2 };
    const first = await keep({ script, limits });
    const second = await keep({ script, limits, history: through(first.entries, 2) });
    expect(second.performed.map(({ effect, again }) => [effect.type === 'launch' && effect.key, again])).toEqual([
      ['b', true],
      ['c', true],
      // Asked for and never started: nobody but the journal of its child can tell.
      ['d', true],
    ]);
    expect(second.stepped.map(({ step }) => step)[0]).toBe(3);
    expect(second.stepped.flatMap(({ emits }) => emits)).toEqual(['"end"']);
    expect(second.result.emits).toEqual(['one', 'a done', 'end']);
  });

  it('a step that was delivered and not stepped runs with its time and facts, and is told', async () => {
    const script = `const r = await runs.run('a', ${P}); emit([Date.now(), r.output]); await runs.run('b', ${P})`;
    let clock = 1000;
    const first = await keep({ script, now: () => (clock += 1000) });
    const cut = through(first.entries, 1);
    const history = [...cut, ...first.entries.slice(cut.length, cut.length + 1)];
    const second = await keep({ script, history, now: () => 9000 });
    expect(second.result.emits).toEqual(first.result.emits);
    expect(second.order.slice(0, 2)).toEqual(['stepped 2', 'start b']);
    expect(second.performed).toMatchObject([{ again: false }]);
  });

  it('the clock of the script does not go back', async () => {
    const script = `await runs.run('a', ${P}); emit(Date.now())`;
    const first = await keep({ script, now: () => 5000 });
    const second = await keep({ script, history: through(first.entries, 1), now: () => 4000 });
    expect(second.result.emits).toEqual([5000]);
  });

  it('an empty history is none', async () => {
    const { result, order } = await keep({ script: 'return 1', history: [] });
    expect(result.value).toBe(1);
    expect(order).toEqual(['delivered 1', 'stepped 1']);
  });

  it('a body that had ended ends again, and late commands are awaited again', async () => {
    const script = `const h = runs.host('h', {kind: 'command', command: 'x', timeoutMs: 5}); h.catch(() => {}); state.set('s', 1); throw new Error('over')`;
    const first = await keep({ script });
    expect(first.result.trace.map(({ key, state }) => [key, state])).toEqual([
      ['h', 'started'],
      ['h', 'completed'],
    ]);
    const cut = await keep({ script, history: through(first.entries, 1) });
    expect(cut.performed.map(({ effect, again }) => [effect.type, again])).toEqual([
      ['host', true],
      ['state.set', true],
    ]);
    expect(cut.result.trace.map(({ state }) => state)).toEqual(['started', 'completed']);
    const whole = await keep({ script, history: first.entries });
    expect(whole.performed.map(({ effect }) => effect.type)).toEqual(['state.set']);
    expect(whole.result.error).toEqual(first.result.error);
  });

  it('a child that is resumed by itself is asked for again', async () => {
    const script = `return (await runs.run('a', ${P})).output`;
    const aborted = {
      ok: true,
      value: { key: 'a', ok: false, output: '', error: 'This operation was aborted', runId: 'r', usage: { input: 0 } },
    };
    const first = await keep({
      script,
      perform: async (effect) => (effect.type === 'launch' && effect.params['resume'] ? done(effect) : aborted),
    });
    expect(first.stepped.map(({ asks }) => asks.map(({ id, key }) => [id, key]))).toEqual([[[1, 'a']], [[1, 'a']], []]);
    const second = await keep({ script, history: through(first.entries, 2) });
    expect(second.performed).toMatchObject([{ effect: { params: { resume: 'r' } }, again: true }]);
    expect(second.result.value).toBe('a done');
  });
});

describe('a record that the script contradicts', () => {
  const script = `await runs.run('first', ${P}); await runs.run('second', ${P})`;

  it.each([
    ['another key', `await runs.run('other', ${P})`, /'first'.*'other'|'other'.*'first'/],
    [
      'other parameters',
      `await runs.run('first', {agent: 'w', task: 'changed'})`,
      /'first'.*[0-9a-f]{16} now, [0-9a-f]{16} then/,
    ],
    ['nothing', 'await 1', /nothing.*'first'/],
    ['more', `runs.run('first', ${P}); await runs.run('more', ${P})`, /'more'.*nothing/],
    ['an end', 'return 1', /nothing.*'first'/],
  ])('by %s ends as diverged and starts nothing', async (_what, changed, message) => {
    const first = await keep({ script });
    for (const steps of [1, 2]) {
      const { result, performed, stepped } = await keep({ script: changed, history: through(first.entries, steps) });
      expect(result.error).toMatchObject({ kind: 'diverged', message: expect.stringMatching(message) });
      expect(performed).toEqual([]);
      expect(stepped).toEqual([]);
    }
  });

  it('by ending early, and by a step that is missing', async () => {
    const first = await keep({ script: `await runs.run('first', ${P}); await 1; await runs.run('second', ${P})` });
    const early = await keep({ script: `await runs.run('first', ${P}); return 1`, history: first.entries });
    expect(early.result.error).toMatchObject({ kind: 'diverged', message: expect.stringContaining("'second'") });
    const gap = await keep({ script, history: first.entries.slice(2) });
    expect(gap.result.error).toMatchObject({ kind: 'diverged', message: expect.stringContaining('step 2') });
  });
});

describe('limits that were raised', () => {
  const low = { maxSubagentSpawnsPerRun: 1 };

  it('a workflow that failed on the spawn limit goes on where it stood', async () => {
    const script = `const a = await runs.run('a', ${P}); emit(a.output); const b = await runs.run('b', ${P}); emit(b.output); return 'all'`;
    const first = await keep({ script, limits: low });
    expect(first.result.error).toMatchObject({ kind: 'limit' });
    const same = await keep({ script, limits: low, history: first.entries });
    expect(same.result).toEqual(first.result);
    expect(same.performed).toEqual([]);
    const second = await keep({ script, history: first.entries });
    expect(second.result).toMatchObject({ ok: true, value: 'all', emits: ['a done', 'b done'] });
    expect(starts(second.order)).toEqual(['start b']);
    expect(second.order[0]).toBe('stepped 2');
    expect(saidOver(first.stepped, second.stepped).emits).toEqual(['"a done"', '"b done"']);
  });

  it('a refusal that the script had caught becomes a launch; facts of what it then did are kept for when it asks again', async () => {
    const script = `
      const other = runs.run('other', ${P});
      const b = await runs.run('b', ${P}).catch(() => runs.run('instead', {resume: 'run-x', task: 't'}));
      emit(b.key);
      const [o, c] = [await other, await runs.host('c', {kind: 'command', command: 'x', timeoutMs: 5})];
      return [o.output, c.stdout]`;
    const first = await keep({ script, limits: low });
    expect(first.result).toMatchObject({ value: ['other done', 'fine'], emits: ['instead'] });
    const second = await keep({ script, history: first.entries });
    expect(second.result).toMatchObject({ value: ['other done', 'fine'], emits: ['b'] });
    expect(starts(second.order)).toEqual(['start b']);
    expect(second.performed).toMatchObject([{ again: true }]);
    // Another process finds the line that holds now, and nothing to do.
    const third = await keep({ script, history: [...first.entries, ...second.entries] });
    expect(third.result).toEqual(second.result);
    expect(third.performed).toEqual([]);
    expect(third.stepped).toEqual([]);
  });

  it('a child that has a fact and is asked for with other parameters ends it as diverged', async () => {
    const script = `
      const how = await runs.run('a', ${P}).then(() => runs.run('b', ${P})).then(() => 'fully', () => 'in part');
      return (await runs.run('c', {resume: 'run-x', task: how})).output`;
    const first = await keep({ script, limits: low });
    expect(first.result.ok).toBe(true);
    const second = await keep({ script, history: first.entries });
    expect(second.result.error).toMatchObject({
      kind: 'diverged',
      message: expect.stringMatching(/'c'.*[0-9a-f]{16} now, [0-9a-f]{16} then/),
    });
    expect(starts(second.order)).toEqual(['start b']);
  });

  it('a budget that was exhausted', async () => {
    const script = `await runs.run('a', ${P}); return (await runs.run('b', ${P})).output`;
    const costly = async (effect: Parameters<typeof done>[0]) => ({
      ok: true,
      value: { ...Object(done(effect).value), usage: { input: 100 } },
    });
    const budget = (hard: number) => ({ usageBudget: { tokens: { hard } } });
    const first = await keep({ script, limits: budget(50), perform: costly });
    expect(first.result.terminalOutcome).toEqual({ state: 'partial', reason: 'budget_exhausted' });
    const still = await keep({ script, limits: budget(80), history: first.entries, perform: costly });
    expect(still.result.error?.message).toContain('100 of 80 tokens');
    expect(still.performed).toEqual([]);
    const second = await keep({
      script,
      limits: budget(500),
      history: [...first.entries, ...still.entries],
      perform: costly,
    });
    expect(second.result).toMatchObject({ ok: true, value: 'b done' });
    expect(starts(second.order)).toEqual(['start b']);
  });

  it('more at the same time: what waited starts, and what ran is performed again', async () => {
    const script = `await runs.all(['a', 'b', 'c'].map((key) => ({key, ...${P}})))`;
    const controller = new AbortController();
    const first = await keep({
      script,
      limits: { globalConcurrencyLimit: 1 },
      perform: (effect) => {
        if (effect.id === 2) controller.abort(new Error('died'));
        return effect.id === 1 ? Promise.resolve(done(effect)) : never();
      },
      signal: controller.signal,
    });
    expect(starts(first.order)).toEqual(['start a', 'start b']);
    const second = await keep({ script, limits: { globalConcurrencyLimit: 2 }, history: first.entries });
    expect(second.result.ok).toBe(true);
    expect(second.order.slice(0, 3)).toEqual(['stepped 2', 'start b', 'start c']);
  });
});

describe('the deadline', () => {
  it('an interrupt of the last step is dropped, and what it said is not said twice', async () => {
    const script = `await runs.run('a', ${P}); emit('begun'); let n = 0; for (let i = 0; i < 3e7; i++) n += i % 7; emit('counted'); await runs.run('b', ${P}); return n`;
    const first = await keep({ script, timeoutMs: 300 });
    expect(first.result.error?.kind).toBe('timeout');
    expect(first.stepped.at(-1)?.interruptAt).toMatchObject({ polls: expect.any(Number) });
    const second = await keep({ script, history: first.entries, timeoutMs: 60_000, usedMs: 300 });
    expect(second.result).toMatchObject({ ok: true, emits: ['begun', 'counted'] });
    expect(starts(second.order)).toEqual(['start b']);
    expect(saidOver(first.stepped, second.stepped).emits).toEqual(['"begun"', '"counted"']);
  }, 30_000);

  it('counts what earlier processes used up; what is left over stays', async () => {
    const script = `emit('one'); await runs.run('a', ${P}); runs.steer('a', 'm'); emit('two'); await runs.run('b', ${P})`;
    const open = {
      perform: (effect: Parameters<typeof done>[0]) => (effect.id > 1 ? never() : Promise.resolve(done(effect))),
    };
    const first = await keep({ script, timeoutMs: 200, ...open });
    expect(first.result.error?.kind).toBe('timeout');
    const began = performance.now();
    const over = await keep({ script, timeoutMs: 200, usedMs: 200, history: first.entries });
    expect(over.result.error).toEqual({ kind: 'timeout', message: 'The workflow timed out after 200 ms.' });
    expect(over.result.emits).toEqual(['one', 'two']);
    expect(over.performed).toEqual([]);
    // Nothing was performed, so nothing is waited for.
    expect(performance.now() - began).toBeLessThan(2500);
    const some = await keep({ script, timeoutMs: 400, usedMs: 200, history: first.entries, ...open });
    expect(some.result.error?.kind).toBe('timeout');
    expect(some.performed.map(({ again }) => again)).toEqual([true, true]);
    const enough = await keep({ script, timeoutMs: 60_000, usedMs: 200, history: first.entries });
    expect(enough.result.error?.kind).toBe('unawaited');
  }, 30_000);

  it('a stop while the history is repeated starts nothing', async () => {
    const controller = new AbortController();
    const script = `await runs.run('a', ${P}); let n = 0; for (let i = 0; i < 3e8; i++) n += i % 7; await runs.run('b', ${P})`;
    const first = await keep({
      script: script.replace('3e8', '3'),
      perform: (effect) => (effect.id > 1 ? never() : Promise.resolve(done(effect))),
      timeoutMs: 500,
    });
    setTimeout(() => controller.abort(new Error('by hand')), 300);
    const second = await keep({ script, history: first.entries, signal: controller.signal });
    expect(second.result.error?.message).toContain('by hand');
    expect(second.performed).toEqual([]);
  }, 30_000);
});
