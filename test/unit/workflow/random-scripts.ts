import fc from 'fast-check';
import { P } from './workflow.ts';

/** Pieces of scripts that do everything the API offers, put together at random. Each uses keys of its own. */
const PIECES: ((n: number) => string)[] = [
  (n) => `emit((await runs.run('a${n}', ${P})).output);`,
  (n) => `emit(await runs.run('b${n}', ${P}).catch((e) => e.message));`,
  (n) =>
    `emit((await runs.all(['x', 'y', 'z'].map((k) => ({key: 'c${n}' + k, ...${P}})))).map((r) => [r.key, r.ok, r.output]));`,
  (n) =>
    `emit((await Promise.race([runs.run('d${n}', ${P}).catch(() => 'failed'), runs.run('e${n}', ${P}).catch(() => 'failed')])).key ?? 'none');`,
  (n) =>
    `emit(await Promise.allSettled([runs.run('f${n}', ${P}), runs.run('g${n}', ${P})]).then((l) => l.map((s) => s.status)));`,
  (n) =>
    `emit(await runs.lanes([{key: 'h${n}', stages: [{key: 's', agent: 'w', task: 't'}, {key: 't', resume: 'previous', task: 'u'}]}, {key: 'i${n}', stages: [{key: 's', agent: 'w', task: 't'}]}]));`,
  () => `emit([Date.now(), Math.random(), new Date().toISOString()]);`,
  (n) => `console.log('line', ${n}, {at: Date.now(), r: Math.random()});`,
  (n) =>
    `const p${n} = runs.run('j${n}', ${P}).catch(() => ({output: 'caught'})); emit(await runs.steer('j${n}', 'm')); emit((await p${n}).output);`,
  (n) =>
    `try { emit((await runs.host('k${n}', {kind: 'command', command: 'c', timeoutMs: 5})).stdout) } catch (e) { emit(e.message) }`,
  (n) => `try { emit(await runs.status('l${n}')) } catch (e) { emit(e.message) }`,
  (n) => `await state.set('m${n}', {v: Math.random()}); emit(await state.get('m${n}'));`,
  (n) => `runs.run('n${n}', ${P}).catch(() => {});`,
  (n) => `if (Math.random() < 0.5) { emit('odd'); await runs.run('o${n}', ${P}).catch(() => {}) } else emit('even');`,
  (n) => `let f${n} = 0; for (let i = 0; i < 3e4; i++) f${n} += i; emit(f${n});`,
];
const ENDINGS = [
  'return {done: true, t: Date.now()}',
  'throw new TypeError("end")',
  'await new Promise(() => {})',
  'return () => 1',
  '',
];

export const scripts = fc
  .tuple(fc.array(fc.nat(PIECES.length - 1), { minLength: 1, maxLength: 7 }), fc.constantFrom(...ENDINGS))
  .map(([picks, ending]) => [...picks.map((pick, index) => PIECES[pick]?.(index) ?? ''), ending].join('\n'));

/** How the host behaves: each call takes the next number, which says when and how it settles. */
export const behaviours = fc.array(fc.nat(99), { minLength: 5, maxLength: 40 });
