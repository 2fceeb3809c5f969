/** Each rule of the workflow language: what it refuses, where, and what it lets pass. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { analyseScript } from '../../src/core/workflow/analyse-script.ts';
import { type AnalysisOptions, FINDING_CODES, type FindingCode } from '../../src/protocol/index.ts';
import { LAUNCH, REFUSED } from './builders/refused-scripts.ts';

/** Names that examples use for what only a run can tell. That nothing declares them is not what the examples are about. */
const ANYTHING =
  /^"(?:x|y|n|f|ms|key|keys|name|item|items|more|other|params|base|rest|step|stages|lanes)" does not exist/;
const check = (script: string, options?: AnalysisOptions) =>
  analyseScript(script, options).findings.filter(
    ({ code, message }) => code !== 'global_missing' || !ANYTHING.test(message),
  );
/** Findings as `code line:column`. */
const places = (script: string, options?: AnalysisOptions) =>
  check(script, options).map(({ code, line, column }) => `${code} ${line}:${column}`);
/** The text that a finding underlines. */
const marked = (script: string) =>
  check(script).map(({ code, line, column, endLine, endColumn }) => {
    const rows = script.split('\n').slice(line - 1, endLine);
    const last = rows.length - 1;
    const text = rows.map((row, at) => row.slice(at === 0 ? column - 1 : 0, at === last ? endColumn - 1 : undefined));
    return `${code}: ${text.join('\n')}`;
  });
const errors = (script: string) => check(script).filter(({ severity }) => severity === 'error');

/** Codes that need more than a script: the file whose tests have them. */
const ELSEWHERE: Partial<Record<FindingCode, string>> = {
  script_too_large: 'workflow-validator.test.ts',
  script_too_deep: 'workflow-validator.test.ts',
  script_too_slow: 'workflow-validator.test.ts',
  batch_keyed_read: 'workflow-fixes.test.ts',
  spawn_budget: 'workflow-rules.test.ts',
  spawn_budget_default: 'workflow-rules.test.ts',
  spawn_count_dynamic: 'workflow-rules.test.ts',
  agent_not_found: 'workflow-fixes.test.ts',
  findings_left_out: 'workflow-rules.test.ts',
};

test('every code has a script that gets it', () => {
  const untested = FINDING_CODES.filter((code) => {
    if (REFUSED[code]) return false;
    const file = ELSEWHERE[code];
    return !file || !readFileSync(join(import.meta.dirname, file), 'utf8').includes(`'${code}'`);
  });
  expect(untested).toEqual([]);
});

describe.each(Object.entries(REFUSED))('%s', (code, scripts) => {
  it.each(scripts)('%s', (script) => {
    const found = check(script);
    expect(found.map((finding) => finding.code)).toContain(code);
    // One mistake is one finding.
    expect(found).toHaveLength(1);
  });
});

/** Legal, however odd: nothing may be said. */
const ACCEPTED = [
  '// only a comment',
  'return',
  'return 1 // the end',
  '1 + 1',
  'for await (const x of [1]) emit(x)',
  'return undefined',
  'return { a: undefined, b: [undefined] }',
  // Words that look like code.
  'const text = "async function f() {}"; return text',
  'return `async () => { await x }`',
  'return "" + /async\\s+function/.source',
  '/* async function f() {} */ return 1',
  'const async = 1, o = { async: 2, async() { return 3 }, await: 4 }; return async + o.async()',
  'function* numbers() { yield 1 } return [...numbers()]',
  'const later = (x) => new Promise((go) => go(x)); return await later(1)',
  'class A { #a = 1; static b = 2; static { this.c = 3 } get d() { return this.#a } set d(v) {} "e f"() {} [Symbol.iterator]() {} } return new A().d',
  'outer: for (const a of [1]) { inner: for (const b of [a]) { continue outer } }',
  'const o = { get a() { return 1 }, set a(v) {}, ["b" + 1]: 2, __proto__: null }; return o?.a?.b ?? o?.["c"]',
  'const r = /[/\\]}]`${/.test("x"); return r',
  `return \`a\${\`b\${\`c\${1}\`}\`}\``,
  'function f() { return g() } function g() { return 1 } return f()',
  'var a = 1; var a = 2; function a() {} return a',
  "'use strict'; return 1",
  'with ({ runs: 1 }) { runs.run("a b") }',
  'label: { break label } return 1',
  'switch (x) { case 1: return 1; break; default: return 2 }',
  'switch (x) { case 1: emit(1); break; default: emit(2) }',
  // Dynamic: only a run can tell.
  `return runs.run(key, params)`,
  `return runs.run('k-' + n, ${LAUNCH})`,
  `return runs.run('a', { ...base, task: 't' })`,
  `return runs.run('a', { agent: name, task: \`\${x}\`, timeoutMs: n })`,
  `return runs.all(items)`,
  `return runs.all(items.map((item) => ({ key: item, agent: 'w' })))`,
  `return runs.all([...items, { key: 'a', agent: 'w' }])`,
  `return runs.all(keys.map((key) => runs.run(key, ${LAUNCH})))`,
  `return runs.all([runs.run('a', ${LAUNCH}), { key: 'b', agent: 'w' }])`,
  `return runs.lanes(lanes)`,
  `return runs.lanes(items.map((key) => ({ key, stages })))`,
  `return runs.lanes([{ key: 'l', stages: [{ key: 's', agent: 'w' }, { key: 't', resume: 'previous', task: 'x' }, ...more] }])`,
  `const go = runs.run; return go('a b', 1)`,
  `const { run } = runs; return run('a b', 1)`,
  `return runs.run.call(null, 'a b', 1)`,
  `return runs[name]('a b', 1)`,
  `return runs.run(...args)`,
  `return runs.host('h', { ...step })`,
  `return runs.host('h', { kind: 'command', command: 'x', timeoutMs: ms, [name]: 1 })`,
  `return runs.run('a', { agent: 'w', baseRef: 'a..b', ...rest })`,
  `return runs.run('a', { agent: 'w', worktree: 1, worktree: true })`,
  `return runs.run('a', { agent: 'w', gate: 'npm test', acceptance: false })`,
  `return runs.run('a', { agent: 'w', baseRef: 'feature/x-1.2' })`,
  `return runs.run('a', { resume: 'run-1', task: 't', index: 0 })`,
  `return runs.run('a', { resume: { workflowRunId: 'w', key: 'k', latest: true }, task: 't' })`,
  `return runs.run('${'k'.repeat(128)}', ${LAUNCH})`,
  `return runs.all([])`,
  `return runs.all([{ key: 'a', agent: 'w' }, { key: 'a', agent: 'w' }])`,
  `await runs.run('a', { agent: 'w', task: 't' }); return runs.run('a', { task: 't', agent: 'w' })`,
  `if (x) await runs.run('a', { agent: 'w', task: x }); else await runs.run('a', { agent: 'w', task: y })`,
  `return runs.run?.('a', ${LAUNCH})`,
  `return runs.toString()`,
  `await runs.run(key, ${LAUNCH}); await runs.steer('other', 'x')`,
  `await runs.run('a', ${LAUNCH}); return runs.steer('a', 'x', { mode: 'follow_up', index: 0, ackTimeoutMs: 5 })`,
  // Observed, one way or another.
  `await Promise.all([runs.run('a', ${LAUNCH})])`,
  `return Promise.race([runs.run('a', ${LAUNCH}), runs.run('b', ${LAUNCH})])`,
  `const p = runs.run('a', ${LAUNCH}); const r = await p; return r.output`,
  `const p = runs.run('a', ${LAUNCH}).then((r) => r.output); return await p`,
  `const ps = []; ps.push(runs.run('a', ${LAUNCH})); await Promise.all(ps)`,
  `const ps = [runs.run('a', ${LAUNCH})]; await Promise.all(ps)`,
  `const p = runs.run('a', ${LAUNCH}); return new Promise((go) => go(p))`,
  `function lane(k) { return runs.run(k, ${LAUNCH}).then((w) => runs.run(k + '-r', { agent: 'w', task: w.output })) } return lane('x')`,
  `for await (const r of [runs.run('a', ${LAUNCH})]) emit(r.output)`,
  `return Array.fromAsync([runs.run('a', ${LAUNCH})])`,
  `const { promise, resolve } = Promise.withResolvers(); resolve(runs.run('a', ${LAUNCH})); return promise`,
  `return x ? runs.run('a', ${LAUNCH}) : runs.run('b', ${LAUNCH})`,
  `return (0, runs.run('a', ${LAUNCH}))`,
  `const r = await (runs.run('a', ${LAUNCH})); return r.output`,
  `runs.status('a')`,
  `const { issue = 1 } = args ?? {}; emit(args); return runs.run(issue, { agent: 'worker', task: args.task })`,
  // Names of one's own.
  `function f(emit) { emit(undefined) } f(() => 1)`,
  `const emit = (x) => x; emit(() => 1)`,
  `const process = 1; return process`,
  `return typeof process === 'undefined'`,
  `let undefined2; { const undefined = 1; emit(undefined) }`,
];

describe('nothing is said of', () => {
  it.each(ACCEPTED)('%s', (script) => {
    expect(check(script)).toEqual([]);
  });
});

describe('batch results', () => {
  const BATCH = "await runs.all([{ key: 'a', agent: 'w' }, { key: 'b', agent: 'w' }])";
  test.each([
    `const r = ${BATCH}; return r.a.output`,
    `const r = ${BATCH}; return r['a'].output`,
    `const r = ${BATCH}; return r?.a`,
    `const r = ${BATCH}; if (x) { { emit(r.a) } }`,
    `const r = ${BATCH}; const f = () => r.a; return f()`,
    `const r = ${BATCH}; const s = r; const t = s; return t.a`,
    `const { a } = ${BATCH}; return a`,
    `const r = ${BATCH}; const { a: x = 1 } = r; return x`,
    `const r = ${BATCH}; let x; ({ a: x } = r); return x`,
    `return (${BATCH}).a`,
    `return runs.all([{ key: 'a', agent: 'w' }]).then((r) => r.a)`,
    `return runs.all([{ key: 'a', agent: 'w' }]).then(({ a }) => a)`,
    `const r = await runs.all(items.map((key) => ({ key, agent: 'w' }))); return r.a`,
    `var r = ${BATCH}; return r.a`,
  ])('B78 are not read by key: %s', (script) => {
    expect(check(script).map(({ code }) => code)).toEqual(['batch_keyed_read']);
  });

  test.each([
    `const r = ${BATCH}; return [r[0], r.length, r.map((x) => x.output), r.at(-1), ...r, 'a' in r, r.then, r.toJSON, r['-1']]`,
    `const [a, b] = ${BATCH}; return a.output + b.output`,
    `let r = ${BATCH}; r = { a: 1 }; return r.a`,
    `const r = ${BATCH}; { const r = { a: 1 }; emit(r.a) } return r.length`,
    `const r = ${BATCH}; r.a = 1`,
    `const r = ${BATCH}; for (r.a of [1]) emit(1); [r.b] = [2]; ({ x: r.a } = {}); delete r.b`,
    `const r = await runs.all([{ key: 'length', agent: 'w' }, { key: 'map', agent: 'w' }]); return r.length + r.map`,
    `const r = ${BATCH}; const k = 'a'; return r[k]`,
    `const r = ${BATCH}; return Object.fromEntries(r.map((x) => [x.key, x])).a`,
    `const { length } = ${BATCH}; return length`,
    `const r = await other.all([{ key: 'a' }]); return r.a`,
  ])('wf-31 are arrays: %s', (script) => {
    expect(check(script)).toEqual([]);
  });

  it('name the item that was meant', () => {
    const [found] = check(`const r = await runs.all([\n  { key: 'a', agent: 'w' },\n]);\nreturn r.a;`);
    expect(found).toMatchObject({ line: 4, column: 10, endLine: 4, endColumn: 11, related: [{ line: 2, column: 10 }] });
  });
});

describe('the file of a workflow', () => {
  const aggregate = '/work/report.md';
  const beside = (rest: string) =>
    `return runs.all([{ key: 'a', agent: 'w', task: 't' }, { key: 'b', agent: 'w', task: 't', ${rest} }])`;

  it('has files beside it, which belong to those that name no output', () => {
    const script = beside("output: '/work/x/../report.a.md'");
    expect(check(script)).toEqual([]);
    expect(check(script, { aggregate })).toMatchObject([
      { code: 'output_shared', message: expect.stringContaining('"a" and "b" would both write /work/report.a.md') },
    ]);
  });

  it.each(['output: false', "output: 'report.a.md'", 'output: x', '...x', "output: '/work/report.md'"])(
    'is shared with nobody by: %s',
    (rest) => {
      expect(check(beside(rest), { aggregate }).filter(({ code }) => code.startsWith('output_shared'))).toEqual([]);
    },
  );
});

describe('the budget of children', () => {
  const budget = (script: string, max?: number) =>
    check(script, max === undefined ? {} : { maxSubagentSpawnsPerRun: max });

  it('is exceeded by what is launched in any case', () => {
    const script = `await runs.run('a', ${LAUNCH}); const x = await runs.all([{ key: 'b', agent: 'w' }, { key: 'c', agent: 'w' }]); return x`;
    expect(budget(script, 3)).toEqual([]);
    expect(budget(script, 2)).toMatchObject([
      { code: 'spawn_budget', message: expect.stringContaining('3 children (a, b, c)') },
    ]);
  });

  it('counts a key once, and nothing behind a possible end', () => {
    expect(budget(`await runs.run('a', ${LAUNCH}); await runs.run('a', ${LAUNCH})`, 1)).toEqual([]);
    const script = `if (x) return 1; await runs.run('a', ${LAUNCH}); await runs.run('b', ${LAUNCH})`;
    expect(budget(script, 1).map(({ code }) => code)).toEqual(['spawn_count_dynamic']);
  });

  it('does not count what goes on with a child, or may', () => {
    const script = `await runs.run('a', { resume: 'run-1', task: 't' }); await runs.run('b', params); await runs.run('c', ${LAUNCH})`;
    expect(budget(script, 1)).toEqual([]);
  });

  it('is only warned of when nobody set it', () => {
    const script = Array.from({ length: 65 }, (_, at) => `await runs.run('k${at}', ${LAUNCH});`).join('\n');
    expect(budget(script)).toMatchObject([{ code: 'spawn_budget_default', severity: 'warning' }]);
    expect(budget(script, 65)).toEqual([]);
  });

  it('cannot be counted when a run decides', () => {
    const script = `return runs.all(items.map((key) => ({ key, agent: 'w' })))`;
    expect(budget(script, 5)).toMatchObject([{ code: 'spawn_count_dynamic', severity: 'warning' }]);
    expect(budget(script)).toEqual([]);
  });
});

describe('findings', () => {
  it.each([
    ['V1', ' \n', ['script_empty 1:1']],
    ['V2', 'const a = 1;\nreturn (;', ['syntax 2:9']],
    [
      'V3',
      'const a = 1;\nconst f = async () => 1;\nemit([1].map(async (x) => x));',
      ['nested_async 2:11', 'nested_async 3:14'],
    ],
    ['V4', "await runs.run('ok', {agent: 'w'});\nawait runs.run(`-bad`, {agent: 'w'});", ['key_format 2:16']],
    [
      'V5',
      "await runs.all([...rest,\n  {agent: 'w', 'key': 'a b'},\n  {agent: 'w', key: 'ok', ['key']: '.x'}]);",
      ['key_format 2:23', 'key_format 3:36'],
    ],
    [
      'V6',
      "await runs.run('a',\n  {agent: 'w', task: () => 1});\nawait runs.all([\n  {key: 'b', agent: 'w', n: [1n]}]);",
      ['not_json 2:22', 'not_json 4:30'],
    ],
    ['V7', "emit(\n  undefined);\nawait state.set('k',\n  {a: [void 0]});", ['not_json 2:3', 'not_json 4:8']],
    ['V8', 'const f = () => { return () => 1; };\nreturn {a: /x/,\n  b: undefined};', ['not_json 2:12']],
    [
      'V9',
      "const r = await runs.all([{key: 'a', agent: 'w'}]);\n{\n  emit(r.a.output);\n}\nreturn r['a'];",
      ['batch_keyed_read 3:10', 'batch_keyed_read 5:10'],
    ],
    [
      'V10',
      "await runs.host('-h',\n  {kind: 'command', command: 'x', timeoutMs: 1, cwd: '/'});\nawait runs.host('h', {\n  kind: 'shell', command: ' ',\n  timeoutMs: 0, output: '../x', role: 'z'});\nawait runs.host('i', {kind: 'command', command: 'x'});",
      [
        'key_format 1:17',
        'host_field_unknown 2:49',
        'host_field_invalid 4:9',
        'host_field_invalid 4:27',
        'host_field_invalid 5:14',
        'host_field_invalid 5:25',
        'host_field_invalid 5:39',
        'host_timeout_missing 6:22',
      ],
    ],
    [
      'V11',
      "await runs.run('a', {agent: 'w',\n  baseRef: 'a..b'});\nawait runs.run('b', {agent: 'w', baseRef: 'a..b', ...rest});",
      ['base_ref_invalid 2:12'],
    ],
  ])('wf-25 %s stand at their place', (_, script, expected) => {
    expect(errors(script).map(({ code, line, column }) => `${code} ${line}:${column}`)).toEqual(expected);
  });

  it('wf-25 V12 stands above the script: it is about all of it', () => {
    const script = "await runs.run('a', {agent: 'w'});\nawait runs.run('b', {agent: 'w'});";
    expect(places(script, { maxSubagentSpawnsPerRun: 1 })).toEqual(['spawn_budget 1:1']);
    expect(places(script, { maxSubagentSpawnsPerRun: 2 })).toEqual([]);
  });

  it.each([
    'await runs.run(args.key, args.params)',
    "await runs.run('k' + args.n, {agent: args.agent, task: args.task})",
    `await runs.run(\`k-\${args.n}\`, {...args.params})`,
    "await runs.all(args.items.map((key) => ({key, agent: 'w', task: key})))",
    "await runs.all([...args.items, {key: args.key, agent: 'w', task: 't'}])",
    "const go = runs.run; await go('-not a key', {agent: 'w'})",
    "const {run, all} = runs; await run('-no', {agent: 'w'}); await all([{key: ' '}])",
    "await runs.run.call(runs, '-no', {agent: 'w'})",
    'await runs.lanes(args.lanes); await runs.steer(args.key, args.message); await runs.host(args.key, args.step)',
    'emit(args.value); return args.condition ? args.a : [args.b]',
  ])('wf-26 are none where only the run knows: %s', (script) => {
    expect(errors(script)).toEqual([]);
  });

  it('wf-27 are all reported, in the order of the text, each once', () => {
    const script = `emit(undefined);\nawait runs.run('a b', { agent: 'w', worktree: 1 });\nconst f = async () => 1;\nreturn () => 1;`;
    expect(places(script)).toEqual([
      'not_json 1:6',
      'key_format 2:16',
      'launch_field_invalid 2:47',
      'nested_async 3:11',
      'not_json 4:8',
    ]);
  });

  it.each([
    ['\n', 'LF'],
    ['\r\n', 'CRLF'],
    ['\r', 'CR'],
  ])('wf-4 count lines as editors do (%j, %s)', (end) => {
    expect(places(['// one', '', 'const a = (;'].join(end))).toEqual(['syntax 3:12']);
    expect(places(['// one', '', 'emit(undefined)'].join(end))).toEqual(['not_json 3:6']);
  });

  it('count characters as editors do, and no further kinds of line ends', () => {
    expect(places('const s = "😀\u2028"; emit(undefined)')).toEqual(['not_json 1:23']);
  });

  it('of something unterminated stand within the script', () => {
    expect(places('const a = `x\n\n\n')).toEqual(['syntax 1:12']);
    expect(places('if (a) {\n  emit(1)\n\n\n')).toEqual(['syntax 2:9']);
    expect(places('/* never closed\n\n')).toEqual(['syntax 1:1']);
  });

  it('wf-5 of a fence in a template say what to do', () => {
    const [found] = check('const t = `\n```js\nx\n```\n`;');
    expect(found?.message).toContain('array of quoted lines');
  });

  it('wf-8 of nested async functions say that nothing was launched, and offer three ways', () => {
    const [found] = check('const f = async () => 1');
    expect(found?.message).toContain('no children were launched');
    expect(found?.message).toMatch(/\(1\).*\(2\).*\(3\)/s);
  });

  it('underline what is meant', () => {
    expect(marked(`runs.run('a', ${LAUNCH})`)).toEqual(['launch_unobserved: runs.run']);
    expect(marked(`return runs.host('h', { kind: 'command', command: 'x', cwd: '/', timeoutMs: 1 })`)).toEqual([
      "host_field_unknown: cwd: '/'",
    ]);
    expect(marked('return 1; emit(1); emit(2)')).toEqual(['unreachable_code: emit(1); emit(2)']);
    expect(marked('class A { static async  scan(x) { return x } }')).toEqual(['nested_async: static async  scan(x) ']);
  });

  it('of code that no run reaches are no errors, except nested async, which the language refuses anywhere', () => {
    const codes = (script: string) => check(script).map(({ code }) => code);
    for (const dead of [
      'runs.zap()',
      'emit(undefined)',
      "runs.run('no key!', { agent: 'w' })",
      "{ runs.host('h', 1) }",
    ]) {
      expect(codes(`return 1; ${dead}`), dead).toEqual(['unreachable_code']);
      expect(codes(`for (;;) { break; ${dead} }`), dead).toEqual(['unreachable_code']);
    }
    expect(codes('return 1; (async () => 1)()')).toEqual(expect.arrayContaining(['nested_async']));
    // A function declared behind the end is called from before it.
    expect(codes('return f(); emit(1); function f() { return runs.zap() }')).toContain('runs_member_unknown');
  });

  it('of a key used twice lead to the first use', () => {
    const [found] = check("return runs.all([{ key: 'a', agent: 'v' },\n{ key: 'a', agent: 'w' }])");
    expect(found).toMatchObject({ line: 2, column: 8, related: [{ line: 1, column: 25 }] });
  });

  it('are not without end: errors come first, and the rest is counted', () => {
    const script = `${'setTimeout;\n'.repeat(600)}emit(undefined)`;
    const found = check(script);
    expect(found).toHaveLength(501);
    expect(found[0]).toMatchObject({ code: 'not_json' });
    expect(found.at(-1)).toMatchObject({ code: 'findings_left_out', message: expect.stringContaining('101') });
  });

  it('wf-9 refuse text that closes what the script is wrapped in', () => {
    for (const script of ['})();(async()=>{', '}\nreturn 1\n{', '}, async function () {', '*/ } /*']) {
      expect(errors(script).length, script).toBe(1);
    }
  });
});
