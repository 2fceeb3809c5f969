/** What the text of a script tells before it runs: inputs, children, commands. */
import { describe, expect, it } from 'vitest';
import { analyseScript } from '../../src/core/workflow/analyse-script.ts';
import type { ScriptInput } from '../../src/protocol/index.ts';

function outlook(script: string) {
  const analysis = analyseScript(script);
  if (!analysis.outlook) throw new Error(JSON.stringify(analysis.findings));
  return analysis.outlook;
}

/** `name=fallback`, with `?` for one that may be left out and `[]` for a list. */
function shown({ name, fallback, isOptional, isList }: ScriptInput): string {
  return `${name}${isList ? '[]' : ''}${isOptional ? '?' : ''}${fallback === undefined ? '' : `=${fallback}`}`;
}

describe('inputs', () => {
  const launch = (task: string) => `return (await runs.run('a', { agent: 'worker', task: ${task} })).output;`;

  it.each([
    ['nothing', launch("'x'"), [], false],
    ['a member', launch('args.topic'), ['topic'], false],
    ['names that are no identifiers', launch('args.file + args["other file"]'), ['file', 'other file'], false],
    [
      'each once, in the order of the text',
      `const a = args.b; const c = args.a; ${launch('args.b + a + c')}`,
      ['b', 'a'],
      false,
    ],
    ['an optional chain', launch('args?.topic'), ['topic'], false],
    ['a default', launch("args.topic ?? 'the code'"), ['topic?="the code"'], false],
    ['a default behind an optional chain', launch("args?.topic || 'x'"), ['topic?="x"'], false],
    ['a default in one of two places', `emit(args.topic ?? 'x'); ${launch('args.topic')}`, ['topic="x"'], false],
    ['a default that only a run can tell', launch('args.topic ?? String(Date.now())'), ['topic?'], false],
    ['a test', `if (args.deep) emit(1); ${launch("'x'")}`, ['deep?'], false],
    [
      'a pattern',
      `const { topic, rounds = 3, deep: far = false } = args ?? {}; ${launch('topic + rounds + far')}`,
      ['topic', 'rounds?=3', 'deep?=false'],
      false,
    ],
    ['a pattern with a rest', `const { topic, ...rest } = args; emit(rest); ${launch('topic')}`, ['topic'], true],
    [
      'a name for all',
      `const input = args ?? {}; ${launch('input.topic + (input.tone ?? "dry")')}`,
      ['topic', 'tone?="dry"'],
      false,
    ],
    ['a name that changes', `let input = args; input = {}; ${launch('input.topic')}`, [], true],
    [
      'a list by its members',
      `const all = args.files.map((file) => ({ key: file, agent: 'scout', task: file })); return (await runs.all(all)).length;`,
      ['files[]'],
      false,
    ],
    [
      'a list by its default',
      `const files = args.files ?? ['a.js']; for (const file of files) emit(file);`,
      ['files[]?=["a.js"]'],
      false,
    ],
    ['a list by its loop', 'for (const file of args.files) emit(file);', ['files[]'], false],
    ['all as one value', launch('JSON.stringify(args)'), [], true],
    ['any field', `const name = 'x'; ${launch('args[name]')}`, [], true],
    ['whether there are any', `if (!args) throw new Error('none'); ${launch("'x'")}`, [], true],
    [
      'whether there are any, and a member',
      `if (args === undefined) throw new Error('none'); ${launch('args.a')}`,
      ['a'],
      false,
    ],
    ['a name of its own', `const args = { a: 1 }; ${launch('args.a')}`, [], false],
    ['what is written', `args.x = 1; ${launch("'x'")}`, [], false],
  ])('%s', (_, script, named, isWhole) => {
    const { inputs } = outlook(script);
    expect([inputs.named.map(shown), inputs.isWhole]).toEqual([named, isWhole]);
  });

  it('more than twenty are asked for as one', () => {
    const reads = Array.from({ length: 21 }, (_, index) => `emit(args.f${index});`).join('\n');
    const { named, isWhole } = outlook(reads).inputs;
    expect([named.length, isWhole]).toEqual([20, true]);
  });

  it('stand where they are read first', () => {
    const [input] = outlook("emit(1);\nemit(args.topic ?? 'x');").inputs.named;
    expect(input?.range).toEqual({ line: 2, column: 6, endLine: 2, endColumn: 16 });
  });
});

describe('children', () => {
  it('are known with agent and model, each key once', () => {
    const { children, more, hasMore } = outlook(`
      const [a, b] = await runs.all([
        { key: 'a', agent: 'scout', task: 'x' },
        { key: 'b', agent: 'reviewer', model: 'fake/one:high', task: 'x' },
      ]);
      const again = await runs.run('a', { agent: 'scout', task: 'x' });
      return [a, b, again];`);
    expect(children).toMatchObject([
      { key: 'a', agent: 'scout', isSure: true, isOpen: false, resumes: false },
      { key: 'b', agent: 'reviewer', model: 'fake/one:high', isSure: true, isOpen: false },
    ]);
    expect([more, hasMore]).toEqual([[], false]);
  });

  it('of lanes know their lane, and whom they go on with', () => {
    const { children, hasMore } = outlook(`
      return (await runs.lanes([{ key: 'ui', stages: [
        { key: 'write', agent: 'worker', model: 'fake/one', task: 'x' },
        { key: 'polish', resume: 'previous', task: 'x' },
        { key: 'check', agent: 'reviewer', task: 'x' },
      ] }])).length;`);
    expect(children).toMatchObject([
      { key: 'ui.write', lane: 'ui', agent: 'worker', isSure: true },
      { key: 'ui.polish', lane: 'ui', agent: 'worker', model: 'fake/one', resumes: true, isSure: false },
      { key: 'ui.check', lane: 'ui', agent: 'reviewer', resumes: false },
    ]);
    expect(hasMore).toBe(false);
  });

  it('behind a condition are not sure', () => {
    const { children } = outlook(`
      const a = await runs.run('a', { agent: 'scout', task: 'x' });
      if (!a.ok) await runs.run('b', { agent: 'scout', task: 'x' });`);
    expect(children.map(({ key, isSure }) => [key, isSure])).toEqual([
      ['a', true],
      ['b', false],
    ]);
  });

  it('whose number only a run can tell are shown as they are written', () => {
    const { children, more, hasMore } = outlook(`
      const files = args.files.map((file) => ({ key: \`check-\${file}\`, agent: 'reviewer', task: file }));
      const found = await runs.all(files);
      for (let round = 1; round < 3; round++) {
        await runs.run('fix-' + round, { agent: 'worker', model: args.model, task: 'x' });
      }
      return found.length;`);
    expect(children).toEqual([]);
    expect(more).toMatchObject([
      { key: '`check-$' + '{file}`', agent: 'reviewer', isOpen: false },
      { key: "'fix-' + round", agent: 'worker', isOpen: true },
    ]);
    expect(hasMore).toBe(true);
  });

  it('made by a function in the launch itself are shown with their stages', () => {
    const { more, hasMore } = outlook(`
      return (await runs.lanes(args.parts.map((part) => ({ key: part, stages: [
        { key: 'write', agent: 'worker', task: 'x', outputSchema: { type: 'object', properties: { agent: { type: 'string' } } } },
        { key: 'check', agent: 'reviewer', task: 'x' },
      ] })))).length;`);
    expect(more.map(({ key, agent }) => [key, agent])).toEqual([
      ["'write'", 'worker'],
      ["'check'", 'reviewer'],
    ]);
    expect(hasMore).toBe(true);
  });

  it('may be more where the launching goes out of sight', () => {
    expect(
      outlook('const start = runs.run; return (await start("a", { agent: "scout", task: "x" })).output;'),
    ).toMatchObject({
      children: [],
      hasMore: true,
      hasMoreHosts: true,
    });
  });
});

describe('commands', () => {
  it('are known to the letter, or shown as they are written', () => {
    const { hosts, hasMoreHosts } = outlook(`
      const check = 'npm test';
      const a = await runs.host('a', { kind: 'command', command: 'rm -rf "out dir"', timeoutMs: 1000 });
      const b = await runs.host('b', { kind: 'command', command: check, timeoutMs: 1000 });
      const c = await runs.host('c', { kind: 'command', command: args.command ?? 'make', timeoutMs: 1000 });
      return [a, b, c];`);
    expect(hosts.map(({ key, command, isLiteral }) => [key, command, isLiteral])).toEqual([
      ['a', 'rm -rf "out dir"', true],
      ['b', 'npm test', true],
      ['c', "args.command ?? 'make'", false],
    ]);
    expect(hasMoreHosts).toBe(false);
  });

  it('under keys that are put together may be several', () => {
    const { hosts, hasMoreHosts } = outlook(`
      for (let round = 1; round < 3; round++) {
        await runs.host(\`check-\${round}\`, { kind: 'command', command: 'npm test', timeoutMs: 1000 });
      }`);
    expect(hosts).toMatchObject([{ command: 'npm test', isLiteral: true }]);
    expect(hosts[0]).not.toHaveProperty('key');
    expect(hasMoreHosts).toBe(true);
  });
});

it('a text that is no script has no outlook', () => {
  expect(analyseScript('const =').outlook).toBeUndefined();
  expect(analyseScript('').outlook).toBeUndefined();
});
