import { describe, expect, it } from 'vitest';
import { runBare } from './bare-realm.ts';
import { play } from './workflow.ts';

describe('containment', () => {
  const ABSENT =
    'process require module exports global Buffer fetch URL TextEncoder crypto structuredClone queueMicrotask performance ' +
    'setTimeout setInterval setImmediate clearTimeout SharedArrayBuffer Atomics WebAssembly std os print scriptArgs Worker';

  it('wf-11 no global of the host is there', async () => {
    const { value } = await runBare(
      `return ${JSON.stringify(ABSENT.split(' '))}.filter(name => name in globalThis || Reflect.has(globalThis, name))`,
    );
    expect(value).toEqual([]);
  });

  it('wf-11 code cannot be made of text', async () => {
    const { value } = await runBare(`
      const out = [];
      const attempts = [
        () => eval('1'), () => (0, eval)('1'), () => Function('return 1')(), () => new Function('return 1')(),
        () => (function* () {}).constructor('yield 1')(), () => Reflect.construct(Function, ['return 1']),
        () => runs.run.constructor('return 1')(), () => (() => {}).constructor.constructor('return 1')(),
      ];
      for (const attempt of attempts) { try { attempt(); out.push('made code') } catch (e) { out.push(e instanceof Error) } }
      return out`);
    expect(value).toEqual(Array(8).fill(true));
  });

  it('wf-6 dynamic import rejects', async () => {
    const { value } = await runBare(
      `try { await import('node:fs'); return 'loaded' } catch (e) { return e instanceof Error }`,
    );
    expect(value).toBe(true);
  });

  it('wf-12 every reachable value belongs to the realm, and no constructor makes code', async () => {
    const { value, error } = await play(
      `
      const P = {agent: 'worker', task: 't'};
      const launched = runs.run('a', P);
      const result = await launched;
      const batch = await runs.all([{key: 'in', ...P}]); const board = await runs.lanes([{key: 'l', stages: [{key: 's', ...P}]}]);
      let thrown; try { runs.ref(1) } catch (e) { thrown = e }
      let overflow; try { (function f() { f() })() } catch (e) { overflow = e }
      let failed; try { await runs.run('bad', P) } catch (e) { failed = e }
      const imported = import('x'); imported.catch(() => {});
      let capability; await {then(a, b) { capability = [a, b]; a() }};
      const generator = (function* () { yield 1 })();
      const roots = {globalThis, runs, emit, console, args, launched, result, batch, board, state, thrown, overflow, failed, imported, capability,
        generator, regexp: /x/g.exec('x'), all: Promise.all([1]), resolvers: Promise.withResolvers(), iterator: [][Symbol.iterator](),
        matchAll: 'x'.matchAll(/x/g), mapIterator: new Map().entries(), stack: [new Error('x').stack], bound: (() => {}).bind(),
        segmenter: Iterator.from([1]), helper: Iterator.from([1]).map(x => x), dispose: new DisposableStack()};
      const seen = new Set(), open = [[roots, 'roots']], outside = [], makesCode = [];
      let functions = 0;
      const see = (value, path) => {
        if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return;
        if (!seen.has(value)) { seen.add(value); open.push([value, path]) }
      };
      while (open.length) {
        const [value, path] = open.pop();
        const prototype = Object.getPrototypeOf(value);
        see(prototype, path + '.__proto__');
        if (typeof value === 'function') {
          functions++;
          if (!(value instanceof Function) && value !== Function.prototype) outside.push(path);
          for (const make of [() => value('return 1'), () => new value('return 1')]) {
            if (!/Function/.test(value.name)) break;
            try { const made = make(); if (typeof made === 'function' && made() === 1) makesCode.push(path) } catch {}
          }
          try { if (value.caller || value.arguments) outside.push(path + ' has caller') } catch {}
        } else if (prototype && !(value instanceof Object) && value !== Object.prototype && prototype !== null) outside.push(path);
        for (const key of Reflect.ownKeys(value)) {
          const property = Reflect.getOwnPropertyDescriptor(value, key);
          const where = path + '.' + String(key);
          see(property.value, where); see(property.get, where + ' get'); see(property.set, where + ' set');
          if (property.get) { try { see(property.get.call(value), where + '()') } catch (e) { see(e, where + ' threw') } }
        }
        let maker; try { maker = value.constructor } catch {}
        if (typeof maker === 'function') {
          see(maker, path + '.constructor');
          let code; try { code = maker.constructor('return globalThis')() } catch {}
          if (code !== undefined) makesCode.push(path + '.constructor.constructor');
        }
      }
      return {outside, makesCode, count: seen.size > 500, functions: functions > 300}`,
      { children: { bad: new Error('no') }, args: { deep: [{ a: 1 }] }, state: { get: () => 1, set: () => {} } },
    );
    expect(error).toBeUndefined();
    expect(value).toEqual({ outside: [], makesCode: [], count: true, functions: true });
  });

  it('H1 the usual ways out end inside', async () => {
    const { value } = await runBare(
      `
      const out = [];
      for (const v of [runs.run, runs.all, Promise, console.log, emit, runs.run('a', {agent: 'w'}), new Error('x'), args]) {
        try { out.push(typeof v.constructor.constructor('return process')()) } catch (e) { out.push(e.constructor === TypeError) }
      }
      return out`,
      { args: {} },
    );
    expect(value).toEqual(Array(8).fill(true));
  });

  it('H14 results are objects of the realm', async () => {
    const { value } = await runBare(
      `const r = await runs.run('a', {agent: 'w'}); return [r instanceof Object, Object.getPrototypeOf(r) === Object.prototype, Array.isArray(args.list), args.list instanceof Array]`,
      { args: { list: [1] } },
    );
    expect(value).toEqual([true, true, true, true]);
  });

  it('wf-16 members of runs cannot be replaced', async () => {
    const { value } = await runBare(`
      const before = runs.run; runs.run = 1; delete runs.all; console.log = 1; runs.extra = 1;
      let strict; try { (function () { 'use strict'; runs.run = 1 })() } catch (e) { strict = e.name }
      return [runs.run === before, typeof runs.all, typeof console.log, runs.extra === undefined, strict]`);
    expect(value).toEqual([true, 'function', 'function', true, 'TypeError']);
  });

  it('H6 stacks have only frames of the script, with its lines and columns', async () => {
    const { value, error } = await runBare(
      `const here = new Error('x').stack;\nlet inHandler;\nawait runs.run('a', {}).then(() => { inHandler = new Error('y').stack });\nemit({here, inHandler});\nfunction deep() {\n  null.x\n}\ndeep()`,
    );
    expect(value).toBeUndefined();
    expect(error?.stack).toMatch(/^ {4}at deep \(workflow\.js:6:\d+\)\n {4}at .*workflow\.js:8:\d+\)?\n$/);
    const { emits } = await runBare(
      `emit(new Error('x').stack); await runs.run('a', {}).then(() => { emit(new Error('y').stack) })`,
    );
    expect(emits[0]).toMatch(/^ {4}at workflow\.js:1:\d+\n$/);
    expect(emits[1]).toMatch(/^( {4}at (<anonymous> \()?workflow\.js:1:\d+\)?\n)+$/);
  });

  it('H5 a failed JSON.parse is an error of the script that names JSON.parse and its line', async () => {
    const { error } = await runBare(`const a = 1;\nJSON.parse('{bad')`);
    expect(error).toMatchObject({ kind: 'script', name: 'SyntaxError' });
    expect(error?.message).toMatch(/JSON\.parse/);
    expect(error?.stack).toMatch(/workflow\.js:2:\d+/);
  });

  it('H13 what was thrown is told, however hostile', async () => {
    const hostile = await runBare(`throw {get message() { throw 1 }, toString() { throw 2 }}`);
    expect(hostile.error?.message).toContain('message: [Getter]');
    expect((await runBare(`throw 'text'`)).error?.message).toBe('text');
    expect((await runBare(`throw null`)).error?.message).toBe('null');
    expect(
      (await runBare(`throw new Proxy({}, {get() { throw 1 }, ownKeys() { throw 1 }, getPrototypeOf() { throw 1 }})`))
        .error?.message,
    ).toBe('[uninspectable value]');
  });

  it('the clock stands still and chance is the same again', async () => {
    const script = `return [Date.now(), new Date().toISOString(), Math.random(), new Date(0).getHours(), typeof Intl]`;
    const first = await runBare(script, { seed: 7, now: () => 1_800_000_000_123 });
    const again = await runBare(script, { seed: 7, now: () => 1_800_000_000_123 });
    const other = await runBare(script, { seed: 8, now: () => 1_800_000_000_123 });
    expect(first.value).toEqual(again.value);
    expect(first.value).toMatchObject([
      1_800_000_000_123,
      '2027-01-15T08:00:00.123Z',
      expect.any(Number),
      0,
      'undefined',
    ]);
    expect(other.value).not.toEqual(first.value);
  });

  it('the same program uses the same fuel', async () => {
    const script = `let n = 0; for (let i = 0; i < 3e5; i++) n += i % 7; return n`;
    const first = await runBare(script);
    expect(first.polls).toBeGreaterThan(0);
    expect((await runBare(script)).polls).toBe(first.polls);
  });
});
