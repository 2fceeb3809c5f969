/** Quick fixes: what they write, that a fixed script has no such finding any more, and that it does the same. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { analyseScript } from '../../src/core/workflow/analyse-script.ts';
import { agentFindings, applySafeFixes } from '../../src/core/workflow/index.ts';
import { runScript } from '../support/workflow-stand-in.ts';

const findings = (script: string) => analyseScript(script).findings;
const fixed = (script: string) => applySafeFixes(script, findings(script)).script;

const P = "{ agent: 'w' }";

describe('async functions become plain ones that do the same', () => {
  test.each([
    [`const f = async (k) => runs.run(k, ${P}); return f('a')`, `const f = (k) => runs.run(k, ${P}); return f('a')`],
    [
      `const f = async(k) => { return runs.run(k, ${P}) }; return f('a')`,
      `const f = (k) => { return runs.run(k, ${P}) }; return f('a')`,
    ],
    [`const f = async k => await runs.run(k, ${P}); return f('a')`, `const f = k => runs.run(k, ${P}); return f('a')`],
    [
      `return Promise.all(['a', 'b'].map(async (k) => (await runs.run(k, ${P})).output))`,
      `return Promise.all(['a', 'b'].map((k) => runs.run(k, ${P}).then((result) => result.output)))`,
    ],
    [
      `const f = async (k) => ({ text: (await runs.run(k, ${P})).output, k }); return f('a')`,
      `const f = (k) => (runs.run(k, ${P}).then((result) => ({ text: result.output, k }))); return f('a')`,
    ],
    [
      `async function lane(k) { const w = await runs.run(k, ${P}); return runs.run(k + '-r', { agent: 'v', task: w.output }) } return lane('x')`,
      `function lane(k) { return runs.run(k, ${P}).then((w) => { return runs.run(k + '-r', { agent: 'v', task: w.output }) }); } return lane('x')`,
    ],
    [
      `async function lane(k) {\n  const first = k + 1;\n  const { output } = await runs.run(first, ${P});\n  if (output === '') return 'none';\n  await runs.run(k + 2, ${P});\n  const last = await runs.run(k + 3, ${P});\n  return last.output + output;\n}\nreturn lane('x')`,
      undefined,
    ],
    [
      `const kit = { async scan(k) { return runs.run(k, ${P}) } }; return kit.scan('a')`,
      `const kit = { scan(k) { return runs.run(k, ${P}) } }; return kit.scan('a')`,
    ],
    [
      `class Kit { static async scan(k) { return runs.run(k, ${P}) } } return Kit.scan('a')`,
      `class Kit { static scan(k) { return runs.run(k, ${P}) } } return Kit.scan('a')`,
    ],
    [
      `async function f(k) { const r = await helper(k); return (await runs.run(r, ${P})).output } function helper(k) { return k } return f('a')`,
      undefined,
    ],
    [
      `const f = async function (k) { return await runs.run(k, ${P}) }; return f('a')`,
      `const f = function (k) { return runs.run(k, ${P}) }; return f('a')`,
    ],
  ])('wf-7 %s', async (script, wanted) => {
    expect(findings(script).map(({ code }) => code)).toEqual(['nested_async']);
    const result = fixed(script);
    if (wanted !== undefined) expect(result).toBe(wanted);
    expect(findings(result)).toEqual([]);
    expect(await runScript(result)).toEqual(await runScript(script));
  });

  test.each([
    'const f = async () => 1; return await f()',
    `const f = async (k) => { for (const x of k) await runs.run(x, ${P}) }; return f(['a'])`,
    `const f = async (k) => { if (k) return 1; return runs.run(k, ${P}) }; return f('a')`,
    `const f = async (k) => { const g = () => w; const w = await runs.run(k, ${P}); return g() }; return f('a')`,
    `const f = async (k) => { await runs.run(k, ${P}); var x = 1; return x }; return f('a')`,
    `const f = async (k) => [k(), await runs.run('a', ${P})]; return f(() => 1)`,
    `const f = async (k, x = await 1) => runs.run(k, ${P}); return f('a')`.replace('await 1', '1'),
    `const f = async (k) => { const a = await runs.run(k, ${P}), b = 1; return b }; return f('a')`,
    `async function* f() { yield 1 } return 1`,
    `const f = async (k) => k ? await runs.run(k, ${P}) : 2; return f('a')`,
    `const f = async (k) => { if (!k) throw new Error('no'); return (await runs.run(k, ${P})).output }; return f('a')`,
  ])('or are left to a person: %s', (script) => {
    const found = findings(script).filter(({ code }) => code === 'nested_async');
    expect(found).toHaveLength(1);
    expect(found[0]?.fix).toBeUndefined();
  });
});

it('random helpers do the same with and without async', async () => {
  const statement = fc.constantFrom(
    `const a = await runs.run(k + '1', ${P});`,
    `const { output } = await runs.run(k + '2', ${P});`,
    `await runs.run(k + '3', ${P});`,
    `let b = k + 'x';`,
    `b = await helper(k);`,
    `if (k === 'x') return 'early';`,
    `const g = () => k;`,
    `var c = 1;`,
    `for (const n of [1, 2]) await runs.run(k + n, ${P});`,
  );
  const end = fc.constantFrom(
    `return (await runs.run(k + '9', ${P})).output;`,
    `return { of: [await helper(k), k] };`,
    `return runs.run(k + '8', ${P});`,
    'return k;',
    '',
  );
  let repaired = 0;
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(statement, { maxLength: 5 }), end, async (body, last) => {
      const script = `function helper(x) { return [x] }\nasync function f(k) {\n${body.join('\n')}\n${last}\n}\nreturn [await f('x'), await f('y')];`;
      const result = fixed(script);
      if (result === script) return;
      repaired += 1;
      expect(findings(result), result).toEqual([]);
      expect(await runScript(result), result).toEqual(await runScript(script));
    }),
    { numRuns: 500 },
  );
  expect(repaired).toBeGreaterThan(50);
});

describe('batch results', () => {
  const BATCH =
    "await runs.all([{ key: 'map', agent: 'w' }, { key: 'risk-list', agent: 'w' }, { key: 'class', agent: 'w' }])";
  const ends = (script: string) => fixed(script).replaceAll(BATCH, '…');
  test.each([
    [`const r = ${BATCH}; return r['risk-list'].output`, `const [, riskList] = …; return riskList.output`],
    [
      `const r = ${BATCH}; return r.class.output + r?.class.key`,
      `const [, , classResult] = …; return classResult.output + classResult.key`,
    ],
    [
      `const riskList = 1, r = ${BATCH}; return r['risk-list'].output`,
      `const riskList = 1, [, riskList2] = …; return riskList2.output`,
    ],
    [`const r = ${BATCH}; return [r.length, r.class.output]`, `const r = …; return [r.length, r[2].output]`],
    [`const r = ${BATCH}; return r?.['risk-list']?.output`, `const [, riskList] = …; return riskList?.output`],
    [`return (${BATCH}).class.output`, `return (…)[2].output`],
    [
      `const { class: c, 'risk-list': r } = ${BATCH}; return c.output + r.output`,
      `const [, r, c] = …; return c.output + r.output`,
    ],
    [`const { class: c = 1 } = ${BATCH}; return c.output`, `const [, , c = 1] = …; return c.output`],
  ])('B78 %s', async (script, wanted) => {
    expect(ends(script)).toBe(wanted);
    expect(findings(fixed(script))).toEqual([]);
    expect((await runScript(fixed(script))).value).toContain('output of');
  });

  it('without a fix where the places are not known', () => {
    const script = `const more = args; const r = await runs.all([...more, { key: 'a', agent: 'w' }]); return r.a.output`;
    const [found] = findings(script);
    expect(found).toMatchObject({ code: 'batch_keyed_read' });
    expect(found?.fix).toBeUndefined();
  });
});

test.each([
  [`runs.run('a', ${P})`, `await runs.run('a', ${P})`],
  [`const o = runs.run('a', ${P}).output; return o`, `const o = (await runs.run('a', ${P})).output; return o`],
  [`const p = runs.run('a', ${P}); return p.output`, `const p = await runs.run('a', ${P}); return p.output`],
  [
    `const { output } = runs.run('a', ${P}); return output`,
    `const { output } = await runs.run('a', ${P}); return output`,
  ],
  [`runs.run('a', ${P}).then((r) => emit(r.output))`, `await runs.run('a', ${P}).then((r) => emit(r.output))`],
  [
    `const p = runs.run('a', ${P}), o = p.output; return o`,
    `const p = await runs.run('a', ${P}), o = p.output; return o`,
  ],
])('await is added: %s', (script, wanted) => {
  expect(fixed(script)).toBe(wanted);
  expect(findings(wanted)).toEqual([]);
});

test('await is not added where it cannot stand', () => {
  const [found] = findings(`function f() { runs.run('a', ${P}) } f()`);
  expect(found).toMatchObject({ code: 'launch_unobserved' });
  expect(found?.fix).toBeUndefined();
});

test.each([
  ["{ kind: 'command', command: 'x' }", "{ kind: 'command', command: 'x', timeoutMs: 600000 }"],
  ["{ kind: 'command', command: 'x', }", "{ kind: 'command', command: 'x', timeoutMs: 600000, }"],
])('a limit is added: %s', (step, wanted) => {
  const script = `return runs.host('h', ${step})`;
  expect(fixed(script)).toBe(`return runs.host('h', ${wanted})`);
  expect(findings(fixed(script))).toEqual([]);
});

test('what may not be meant is offered, and never done along with the rest', () => {
  const script = "return runs.run('a', { agent: 'w', tsak: 't', clarify: true })";
  const found = findings(script);
  expect(found.map(({ fix }) => fix?.kind)).toEqual(['rename_field', 'remove_field']);
  expect(fixed(script)).toBe(script);
  const all = found.map((finding) => ({ ...finding, fix: finding.fix && { ...finding.fix, safe: true } }));
  expect(applySafeFixes(script, all).script).toBe("return runs.run('a', { agent: 'w', task: 't' })");
});

test('several fixes are done at once where they do not touch', () => {
  const script = [
    `const r = await runs.all([{ key: 'a', agent: 'w' }]);`,
    `runs.run('b', ${P});`,
    `const f = async (k) => (await runs.run(k, ${P})).output;`,
    `return r.a.output + (await f('c'));`,
  ].join('\n');
  const result = fixed(script);
  expect(findings(result)).toEqual([]);
  expect(result).toContain('const [a] = await');
  expect(result).toContain(`await runs.run('b'`);
});

describe('agents', () => {
  const known = [
    { name: 'reviewer', aliases: ['critic'] },
    { name: 'scout', aliases: [] },
  ];
  const mentions = (script: string) => agentFindings(analyseScript(script).agents, known);

  it('that nobody knows are warned of, with the nearest name', () => {
    const script = "return runs.all(items.map((key) => ({ key, agent: 'reviewr' })))";
    const [found] = mentions(script);
    expect(found).toMatchObject({ code: 'agent_not_found', severity: 'warning', line: 1 });
    const fix = found?.fix && { ...found, fix: { ...found.fix, safe: true } };
    expect(applySafeFixes(script, fix ? [fix] : []).script).toContain("agent: 'reviewer' })");
  });

  it('are found in every kind of launch, by name and alias', () => {
    const script = `
      await runs.run('a', { agent: 'scout' });
      await runs.run(key, { agent: 'critic' });
      await runs.lanes([{ key: 'l', stages: [{ key: 's', agent: 'nobody-at-all' }] }]);
      const other = { agent: 'not a launch' };`;
    expect(mentions(script).map(({ message }) => message)).toEqual([expect.stringContaining('"nobody-at-all"')]);
  });
});
