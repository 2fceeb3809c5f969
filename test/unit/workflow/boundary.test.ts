import { describe, expect, it } from 'vitest';
import { P, play } from './workflow.ts';

const VIOLATIONS: [what: string, value: string, message: RegExp][] = [
  ['a function', '() => 1', /must be a JSON value.*function/],
  ['a symbol', 'Symbol("s")', /must be a JSON value.*symbol/],
  ['a bigint', '10n', /must be a JSON value.*bigint/],
  ['NaN', 'NaN', /only finite numbers/],
  ['Infinity', '-Infinity', /only finite numbers/],
  ['a cycle', '(() => { const o = {}; o.self = o; return o })()', /cycle/],
  ['a sparse array', '[1,,2]', /sparse/],
  ['a Date', 'new Date(0)', /plain JSON object.*Date/],
  ['a Map', 'new Map()', /plain JSON object.*Map/],
  ['an Error', 'new Error("x")', /plain JSON object/],
  ['a regular expression', '/x/', /plain JSON object.*RegExp/],
  ['a promise', 'Promise.resolve(1)', /Promise/],
  ['an instance', 'new (class Mine {})()', /plain JSON object.*Mine/],
  ['a symbol key', '({[Symbol("s")]: 1})', /symbol key/],
];

describe('the JSON boundary', () => {
  for (const [what, value, message] of VIOLATIONS) {
    it(`wf-18 ${what} is refused with its path at each border`, async () => {
      const returned = await play(`return {items: [1, {bad: ${value}}]}`);
      expect(returned.error).toMatchObject({ kind: 'boundary', message: expect.stringMatching(message) });
      expect(returned.error?.message).toMatch(/^return\.items\[1\]\.bad/);
      const inside = await play(
        `const out = [];
         for (const attempt of [
           () => emit({a: ${value}}),
           () => state.set('k', {x: ${value}}),
           () => runs.run('a', {agent: 'w', task: ${value}}),
           () => runs.all([{key: 'a', agent: 'w', task: ${value}}]),
           () => runs.host('h', {kind: 'command', command: ${value}, timeoutMs: 1}),
           () => runs.lanes([{key: 'l', stages: [{key: 's', agent: 'w', task: ${value}}]}]),
         ]) { try { attempt(); out.push('accepted') } catch (e) { out.push(e.message) } }
         return out`,
        { state: { get: () => undefined, set: () => undefined } },
      );
      const paths = [
        /^emit\.a/,
        /^state\.set\('k'\) value\.x/,
        /^runs\.run params\.task/,
        /^runs\.all items\[0\]\.task/,
        /^runs\.host params\.command/,
        /^runs\.lanes\[0\]\.stages\[0\]\.task/,
      ];
      const messages = inside.value as string[];
      paths.forEach((path, index) => {
        expect(messages[index]).toMatch(path);
        expect(messages[index]).toMatch(message);
      });
      expect(inside.keys).toEqual([]);
      expect(inside.emits).toEqual([]);
    });
  }

  it('a place a thousand levels down is named by the beginning and the end of its path', async () => {
    const { error } = await play('let deep = 1; for (let i = 0; i < 1100; i++) deep = [deep]; return { deep }');
    expect(error?.message).toMatch(/^return\.deep(?:\[0\]){15}…(?:\[0\]){3,4} is nested deeper than 1000 levels/);
  });

  it('wf-32 undefined is allowed in returns, and nowhere else', async () => {
    expect((await play('return undefined')).value).toBeNull();
    const { value } = await play(`const out = [];
      for (const attempt of [() => emit(undefined), () => emit({a: [undefined]}), () => runs.run('a', {agent: 'w', task: undefined})]) {
        try { attempt() } catch (e) { out.push(e.message) } }
      return out`);
    expect(value).toEqual([
      expect.stringMatching(/^emit must be a JSON value.*undefined/),
      expect.stringMatching(/^emit\.a\[0\]/),
      expect.stringMatching(/^runs\.run params\.task/),
    ]);
  });

  it('wf-19 a return drops undefined properties and makes undefined elements null, at every depth', async () => {
    expect((await play('return {a: undefined, b: [undefined, {c: undefined, d: 1}]}')).value).toEqual({
      b: [null, { d: 1 }],
    });
  });

  it('wf-20 objects without prototype and shared references are accepted, accessors are read', async () => {
    const { value } = await play(
      `const shared = {x: 1}; const bare = Object.create(null); bare.a = shared; return {bare, again: shared, list: [shared], get late() { return 5 }}`,
    );
    expect(value).toEqual({ bare: { a: { x: 1 } }, again: { x: 1 }, list: [{ x: 1 }], late: 5 });
  });

  it('what an accessor throws is an error of the script', async () => {
    expect((await play('return {get a() { throw new RangeError("mine") }}')).error).toMatchObject({
      kind: 'script',
      message: expect.stringContaining('RangeError: mine'),
    });
  });

  it('wf-21 a failing emit can be caught and records nothing; earlier emits outlive a later failure', async () => {
    const { error, emits } = await play(
      `emit(1); try { emit(() => 1) } catch {} emit({b: 2}); throw new Error('later')`,
    );
    expect(emits).toEqual([1, { b: 2 }]);
    expect(error?.message).toContain('later');
  });

  it('H13 a cyclic emit says that it is a cycle', async () => {
    const { error } = await play('const a = {}; a.a = a; emit(a)');
    expect(error).toMatchObject({ kind: 'boundary', message: expect.stringContaining('emit.a is a cycle') });
  });

  it('wf-22 a return that cannot cross lists what children left behind', async () => {
    const children = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [
        `k${index}`,
        {
          ok: true,
          output: 'x',
          runId: `id-${index}`,
          outputReference: `/out/${index}.md`,
          artifactPaths: [`/art/${index}`],
        },
      ]),
    );
    const { error } = await play(
      `await runs.all(Array.from({length: 12}, (_, i) => ({key: 'k' + i, agent: 'w', task: 't'}))); return {bad: () => 1}`,
      { children },
    );
    expect(error?.kind).toBe('boundary');
    expect(error?.message).toMatch(/k0: run id-0, output \/out\/0\.md, artifact \/art\/0/);
    expect(error?.message).toMatch(/k9: run id-9/);
    expect(error?.message).not.toMatch(/k10:/);
    expect(error?.message).toMatch(/and 2 more/);
    expect(error?.message).toMatch(/projection/);
  });

  it('wf-23 detailed results that are no JSON are left out; other values make the call fail by name', async () => {
    const { value, trace, keys } = await play(
      `const a = await runs.run('a', ${P}); let b; try { await runs.run('b', ${P}) } catch (e) { b = e.message } return {a, b}`,
      { children: { a: { ok: true, output: 'x', results: [() => 1] }, b: { ok: true, output: 'x', extra: () => 1 } } },
    );
    expect(value).toMatchObject({ a: { ok: true, output: 'x' }, b: expect.stringMatching(/'b'.*result\.extra/) });
    expect(value).not.toHaveProperty('a.results');
    expect(trace.at(-1)).toMatchObject({ key: 'b', state: 'failed' });
    expect(keys).toEqual(['a', 'b']);
  });

  it('wf-24 a batch result can be returned and emitted, also nested', async () => {
    const { value, emits } = await play(
      `const all = await runs.all([{key: 'a', ...${P}}]); emit(all); emit({all}); return [all]`,
    );
    expect(value).toMatchObject([[{ key: 'a', output: 'a done' }]]);
    expect(emits).toMatchObject([[{ key: 'a' }], { all: [{ key: 'a' }] }]);
  });

  it('H7 return and emits have limits that are named', async () => {
    expect((await play(`return 'x'.repeat(9e6)`)).error).toMatchObject({ kind: 'limit' });
    const { error, emits } = await play(`for (let i = 0; i < 100; i++) emit('x'.repeat(1e6))`);
    expect(error).toMatchObject({ kind: 'limit', message: expect.stringContaining('emit') });
    expect(emits).toHaveLength(16);
    expect((await play(`emit('x'.repeat(2e6))`)).error).toMatchObject({ kind: 'limit' });
  });

  it('H7 console output is cut and says so', async () => {
    const { console: entries, ok } = await play(`for (let i = 0; i < 20000; i++) console.log('line', i)`);
    expect(ok).toBe(true);
    expect(entries.length).toBe(10_001);
    expect(entries.at(-1)).toMatchObject({ level: 'warn', text: expect.stringContaining('dropped') });
  });

  it('console shows strings as they are and values four levels deep', async () => {
    const { console: entries } = await play(
      `console.log('a b', 1, {a: {b: {c: {d: {e: 1}}}}}); console.warn([1, 'x'], new Map(), () => 1, 5n, null, undefined);
       const o = {get g() { return 1 }}; o.self = o; console.error(o, new TypeError('bad')); console.info(Symbol('s'))`,
    );
    expect(entries).toEqual([
      { level: 'log', text: 'a b 1 { a: { b: { c: { d: { e: 1 } } } } }' },
      { level: 'warn', text: '[1, "x"] Map {} [Function] 5n null undefined' },
      {
        level: 'error',
        text: expect.stringMatching(
          /^\{ g: \[Getter\], self: \[Circular\] \} TypeError: bad\n {4}at workflow\.js:2:\d+$/,
        ),
      },
      { level: 'info', text: 'Symbol(s)' },
    ]);
  });
});
