/** An error is what must fail when the script runs: the check and the engine are asked about the same scripts. */
import { describe, expect, it } from 'vitest';
import { analyseScript } from '../../../src/core/workflow/analyse-script.ts';
import { play } from './workflow.ts';

const BAD = "runs.run('bad key!', {agent: 'w', task: 't'})";
const GOOD = "runs.run('good', {agent: 'w', task: 't'})";

/** Each has a mistake that surely fails the run. */
const MUST_FAIL = [
  `await ${BAD}`,
  `return ${BAD}`,
  `const launch = () => ${BAD}; await launch()`,
  `function launch() { return ${BAD}; } await launch()`,
  `const inner = () => ${BAD}; const outer = () => inner(); await outer()`,
  `await (() => ${BAD})()`,
  `{ await ${BAD} }`,
  `try { await ${BAD} } finally { emit(1) }`,
  `try { emit(1) } catch {} finally { await ${BAD} }`,
  `if (${BAD}) emit(1)`,
  `while (await ${BAD}) emit(1)`,
  `for (const x of [await ${BAD}]) emit(x)`,
  `switch (await ${BAD}) { default: emit(1) }`,
  `emit(undefined)`,
  `runs.zap()`,
  `${BAD} && emit(1)`,
  `const {a = 1} = await ${BAD}; return a`,
  `class A { static x = ${BAD} }`,
  `await Promise.allSettled([${BAD}])`,
  `const r = await runs.all([{key: 'a', agent: 'w', task: 't'}]); return r.a`,
  `${GOOD}`,
  `const same = ${GOOD}; return 1`,
  `throw ${BAD}`,
];

/** Each has a mistake that need not come to anything, and here does not. */
const NEED_NOT_FAIL = [
  `if (false) { runs.zap() } return 1`,
  `false && runs.zap(); return 1`,
  `const x = true || runs.zap(); return x`,
  `const x = null ?? 1; return true ? x : runs.zap()`,
  `for (const x of []) { runs.zap() } return 1`,
  `while (false) runs.zap(); return 1`,
  `for (let i = 0; i < 0; i++) { emit(undefined) } return 1`,
  `try { runs.zap() } catch {} return 1`,
  `try { await ${BAD} } catch { return 1 }`,
  `try { emit(1) } catch { runs.zap() } return 1`,
  `function f() { return ${BAD}; } return 1`,
  `const f = () => ${BAD}; return 1`,
  `const f = () => ${BAD}; try { await f() } catch {} return 1`,
  `const launch = () => ${BAD}; if (false) await launch(); return 1`,
  `let f = () => ${BAD}; f = () => 1; return f()`,
  `[].map((x) => ${BAD}); return 1`,
  `function* g() { yield ${BAD}; } g(); return 1`,
  `const o = undefined; o?.x(runs.zap()); return 1`,
  `const {a = runs.zap()} = {a: 1}; return a`,
  `class A { x = ${BAD} } return 1`,
  `if (true) return 1; emit(undefined)`,
  `switch (1) { case 2: runs.zap() } return 1`,
  `out: { break out; runs.zap() } return 1`,
  `let x = 1; x ||= runs.zap(); return x`,
  `const r = await runs.all([{key: 'a', agent: 'w', task: 't'}]); try { return r.a } catch { return 1 }`,
];

const errors = (script: string) => analyseScript(script).findings.filter(({ severity }) => severity === 'error');

describe('a mistake', () => {
  it.each(MUST_FAIL)('that must fail is an error, and fails: %s', async (script) => {
    expect(errors(script)).not.toEqual([]);
    expect((await play(script)).ok).toBe(false);
  });

  it.each(NEED_NOT_FAIL)('that need not is none, and is told all the same: %s', async (script) => {
    expect(errors(script)).toEqual([]);
    const played = await play(script);
    expect(played.error).toBeUndefined();
    expect(played.ok).toBe(true);
    expect(analyseScript(script).findings).not.toEqual([]);
  });
});
