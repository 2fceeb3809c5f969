import { describe, expect, it } from 'vitest';
import { runBare } from './bare-realm.ts';

const P = `{agent: 'worker', task: 't'}`;
const op = (key: string) => `runs.run('${key}', ${P})`;

interface Form {
  what: string;
  script: string;
  unobserved?: string[];
  value?: unknown;
  /** The body ends with an error of this kind. */
  kind?: string;
  failing?: string[];
  order?: string[];
}

const FORMS: Form[] = [
  { what: 'await', script: `const r = await ${op('a')}; return r.output`, value: 'a!' },
  { what: 'return', script: `return ${op('a')}.then(r => r.output)`, value: 'a!' },
  { what: 'return of the launch itself', script: `return ${op('a')}`, value: { key: 'a', ok: true, output: 'a!' } },
  {
    what: 'Promise.all',
    script: `const [a, b] = await Promise.all([${op('a')}, ${op('b')}]); return a.output + b.output`,
    value: 'a!b!',
  },
  { what: 'Promise.all with a value', script: `return (await Promise.all([1, ${op('a')}])).length`, value: 2 },
  { what: 'returned Promise.all', script: `return Promise.all([${op('a')}]).then(l => l.length)`, value: 1 },
  {
    what: 'Promise.allSettled',
    script: `return (await Promise.allSettled([${op('a')}, ${op('b')}])).map(s => s.status)`,
    failing: ['b'],
    value: ['fulfilled', 'rejected'],
  },
  {
    what: 'Promise.race observes all',
    script: `return (await Promise.race([${op('a')}, ${op('b')}])).key`,
    value: 'a',
  },
  {
    what: 'Promise.any observes all',
    script: `return (await Promise.any([${op('a')}, ${op('b')}])).key`,
    failing: ['a'],
    value: 'b',
  },
  { what: 'Promise.resolve', script: `return (await Promise.resolve(${op('a')})).key`, value: 'a' },
  { what: 'Promise.try', script: `return (await Promise.try(() => ${op('a')})).key`, value: 'a' },
  { what: 'then', script: `return await ${op('a')}.then(r => r.key)`, value: 'a' },
  { what: 'catch', script: `return await ${op('a')}.catch(() => 'caught')`, failing: ['a'], value: 'caught' },
  { what: 'finally', script: `return (await ${op('a')}.finally(() => {})).key`, value: 'a' },
  {
    what: 'a handler of an awaited chain returns another launch',
    script: `return (await ${op('a')}.then(() => ${op('b')})).key`,
    value: 'b',
  },
  {
    what: 'a handler of finally returns another launch',
    script: `return (await ${op('a')}.finally(() => ${op('b')})).key`,
    value: 'a',
  },
  {
    what: 'a chain that was awaited before its handler launches',
    script: `const chain = ${op('a')}.then(() => ${op('b')}).then(() => ${op('c')}); await chain; return 1`,
    value: 1,
  },
  {
    what: 'new Promise resolved with a launch',
    script: `return (await new Promise(r => r(${op('a')}))).key`,
    value: 'a',
  },
  {
    what: 'new Promise resolved later',
    script: `let go; const p = new Promise(r => { go = r }); go(${op('a')}); return (await p).key`,
    value: 'a',
  },
  {
    what: 'new Promise resolved in a handler',
    script: `return (await new Promise(r => { ${op('a')}.then(v => r(v.key)) }))`,
    value: 'a',
  },
  {
    what: 'a resolver as handler',
    script: `return (await new Promise((r, x) => { ${op('a')}.then(r, x) })).key`,
    value: 'a',
  },
  {
    what: 'a resolver as handler of a launch that loses a race',
    script: `return (await Promise.race([${op('a')}, new Promise(r => { ${op('b')}.then(r) })])).key`,
    value: 'a',
  },
  {
    what: 'withResolvers',
    script: `const {promise, resolve, reject} = Promise.withResolvers(); ${op('a')}.then(r => resolve(r.key), reject); return await promise`,
    value: 'a',
  },
  {
    what: 'withResolvers, rejected',
    script: `const {promise, resolve, reject} = Promise.withResolvers(); ${op('a')}.then(resolve, e => reject(e)); try { await promise } catch (e) { return e.message }`,
    failing: ['a'],
    value: "Run 'a' failed",
  },
  {
    what: 'for await over launches',
    script: `const out = []; for await (const r of [${op('a')}, ${op('b')}]) out.push(r.key); return out`,
    value: ['a', 'b'],
  },
  {
    what: 'for await over a generator',
    script: `function* g() { yield ${op('a')}; yield ${op('b')} } const out = []; for await (const r of g()) out.push(r.key); return out`,
    value: ['a', 'b'],
  },
  {
    what: 'Array.fromAsync',
    script: `return (await Array.fromAsync([${op('a')}, ${op('b')}])).map(r => r.key)`,
    value: ['a', 'b'],
  },
  {
    what: 'Array.fromAsync with a mapper',
    script: `return await Array.fromAsync(['a', 'b'], k => runs.run(k, ${P}).then(r => r.key))`,
    value: ['a', 'b'],
  },
  {
    what: 'Array.fromAsync over an asynchronous iterator',
    script: `const source = {[Symbol.asyncIterator]() { let n = 0; return {next: () => n++ < 2 ? runs.run('k' + n, ${P}).then(r => ({done: false, value: r.key})) : Promise.resolve({done: true})} }}; return await Array.fromAsync(source)`,
    value: ['k1', 'k2'],
  },
  {
    what: 'a helper that returns the launch',
    script: `function go(k) { return runs.run(k, ${P}) } return (await go('a')).key`,
    value: 'a',
  },
  {
    what: 'recursion',
    script: `function go(n) { return n === 0 ? Promise.resolve('end') : runs.run('k' + n, ${P}).then(() => go(n - 1)) } return await go(3)`,
    value: 'end',
  },
  {
    what: 'reduce',
    script: `return (await ['a', 'b', 'c'].reduce((p, k) => p.then(() => runs.run(k, ${P})), Promise.resolve())).key`,
    value: 'c',
  },
  {
    what: 'generator loop',
    script: `function* g() { for (const k of ['a', 'b']) yield runs.run(k, ${P}) } let n = 0; for (const p of g()) { await p; n++ } return n`,
    value: 2,
  },
  {
    what: 'a chain of 3,000 links',
    script: `let p = ${op('a')}; for (let i = 0; i < 3000; i++) p = p.then(v => v); return (await p).key`,
    value: 'a',
  },
  {
    what: 'a thenable of the script',
    script: `const t = {then(r, x) { ${op('a')}.then(r, x) }}; return (await t).key`,
    value: 'a',
  },
  {
    what: 'a subclass',
    script: `class Mine extends Promise {} return (await new Mine(r => r(${op('a')}))).key`,
    value: 'a',
  },
  {
    what: 'Promise.prototype.then replaced',
    script: `Promise.prototype.then = () => {}; Object.prototype.polluted = 1; return (await ${op('a')}).key`,
    value: 'a',
  },
  {
    what: 'built-ins replaced',
    script: `Array.prototype.push = () => { throw new Error('x') }; Array.prototype[Symbol.iterator] = undefined; WeakMap.prototype.get = () => ({}); Function.prototype.toString = () => ''; Object.defineProperty(Object.prototype, '0', {set() { throw new Error('x') }}); return (await ${op('a')}).key`,
    value: 'a',
  },
  // Nothing awaits these.
  { what: 'bare statement', script: `${op('a')}; return 1`, unobserved: ['a'], value: 1 },
  { what: 'void', script: `void ${op('a')}; await ${op('b')}`, unobserved: ['a'], value: null },
  { what: 'stored and never used', script: `const p = ${op('a')}; return 1`, unobserved: ['a'], value: 1 },
  { what: 'reading a property of the promise', script: `return ${op('a')}.output`, unobserved: ['a'], value: null },
  {
    what: 'dangling then',
    script: `${op('a')}.then(() => 1); await ${op('b')}; return 1`,
    unobserved: ['a'],
    value: 1,
  },
  { what: 'dangling catch', script: `${op('a')}.catch(() => 1); return 1`, unobserved: ['a'], value: 1 },
  { what: 'dangling finally', script: `${op('a')}.finally(() => 1); return 1`, unobserved: ['a'], value: 1 },
  {
    what: 'combination nobody awaits',
    script: `Promise.all([${op('a')}, ${op('b')}]); return 1`,
    unobserved: ['a', 'b'],
    value: 1,
  },
  {
    what: 'new Promise nobody awaits',
    script: `new Promise(r => r(${op('a')})); return 1`,
    unobserved: ['a'],
    value: 1,
  },
  { what: 'awaiting an array of launches', script: `await [${op('a')}]; return 1`, unobserved: ['a'], value: 1 },
  {
    what: 'a launch in a handler that does not return it',
    script: `await ${op('a')}.then(() => { ${op('b')} }); return 1`,
    unobserved: ['b'],
    value: 1,
  },
  {
    what: 'a launch handed to a second resolve',
    script: `return await new Promise(r => { r(1); r(${op('a')}) })`,
    unobserved: ['a'],
    value: 1,
  },
  {
    what: 'a thenable nobody awaits',
    script: `Promise.resolve({then(r) { ${op('a')}.then(r) }}); await ${op('b')}; return 1`,
    unobserved: ['a'],
    value: 1,
  },
  {
    what: 'Array.fromAsync nobody awaits',
    script: `Array.fromAsync([${op('a')}]); await ${op('b')}; return 1`,
    unobserved: ['a'],
    value: 1,
  },
  {
    what: 'a promise made inside a dangling handler',
    script: `let saved; ${op('a')}.then(() => { saved = Promise.resolve(1) }); await ${op('b')}; await saved; return 1`,
    order: ['a', 'b'],
    unobserved: ['a'],
    value: 1,
  },
  {
    what: 'import() is no way around',
    script: `import('x').catch(() => ${op('a')}); await ${op('b')}; return 1`,
    unobserved: ['a'],
    value: 1,
  },
  { what: 'a launch inside the returned data', script: `return {p: ${op('a')}}`, unobserved: ['a'], kind: 'boundary' },
];

describe('observation', () => {
  it('knows at least the 43 forms', () => expect(FORMS.length).toBeGreaterThanOrEqual(43));

  for (const form of FORMS) {
    it(`wf-72 ${form.what}`, async () => {
      const outcome = await runBare(form.script, {
        ...(form.failing ? { failing: form.failing } : {}),
        ...(form.order ? { order: form.order } : {}),
      });
      expect(outcome.failure).toBeUndefined();
      expect(outcome.error?.kind).toBe(form.kind);
      if (!form.kind) expect(outcome.value).toEqual(form.value);
      expect(outcome.unobserved).toEqual(form.unobserved ?? []);
    });
  }
});
