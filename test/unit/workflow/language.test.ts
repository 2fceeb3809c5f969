import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SCRIPT_GLOBALS } from '../../../src/core/workflow/script-globals.ts';
import { projectRoot } from '../../support/project-root.ts';
import { engineWorker, P, play } from './workflow.ts';

describe('the language of scripts', () => {
  it('wf-1 a return is the value, no return is null, a trailing expression is null', async () => {
    expect((await play('return {a: 1}')).value).toEqual({ a: 1 });
    expect((await play('const a = 1')).value).toBeNull();
    expect((await play('41 + 1')).value).toBeNull();
  });

  it('wf-2 a script that ends in a line comment runs unchanged', async () => {
    expect((await play('return 7 // the end')).value).toBe(7);
  });

  it('wf-3 blank text is refused, a comment alone gives null', async () => {
    for (const script of ['', ' \n\t']) {
      const { error, keys } = await play(script);
      expect(error).toMatchObject({ kind: 'validation', message: expect.stringContaining('must not be empty') });
      expect(keys).toEqual([]);
    }
    expect(await play('// nothing to do')).toMatchObject({ ok: true, value: null });
  });

  it('wf-4 a syntax error has the line of the script, with LF and CRLF', async () => {
    for (const end of ['\n', '\r\n']) {
      const { error } = await play(['const a = 1;', 'const b = 2;', 'const c = ;', 'return a'].join(end));
      expect(error).toMatchObject({ kind: 'syntax', line: 3, column: 11 });
    }
  });

  it('wf-5 a fence in a template says what to do and launches nothing', async () => {
    const { error, keys } = await play(`await runs.run('a', ${P});\nconst t = \`\n\`\`\`js\nx\n\`\`\`\n\`;`);
    expect(error).toMatchObject({
      kind: 'syntax',
      message: expect.stringMatching(/valid JavaScript.*fence.*array of quoted lines.*joined/s),
    });
    expect(keys).toEqual([]);
  });

  it('wf-6 static import and export are syntax errors', async () => {
    for (const script of ["import fs from 'node:fs'", 'export const a = 1']) {
      expect((await play(script)).error?.kind).toBe('syntax');
    }
  });

  const refused = [
    `await Promise.all([1].map(async (i) => (await runs.run('a' + i, ${P})).output))`,
    `async function lane() { return runs.run('a', ${P}) } await lane()`,
    `const kit = {async scan() { return 1 }}`,
    `class A { async m() {} }`,
    `class A { static async #m() {} }`,
    `class A { f = async () => 1 }`,
    `async function* g() {}`,
    `await (async () => 1)()`,
    `function f(a = async () => 1) {}`,
    `const {a = async () => 1} = {}`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a script
    'return `${async () => 1}`',
    `return 1; async function never() {}`,
  ];
  for (const script of refused) {
    it(`wf-7 refused, nothing launched: ${script.slice(0, 60)}`, async () => {
      const { error, keys, trace } = await play(`await runs.run('first', ${P});\n${script}`);
      expect(error).toMatchObject({ kind: 'validation', line: 2 });
      expect(keys).toEqual([]);
      expect(trace).toEqual([]);
    });
  }

  const accepted = [
    "const text = 'async () => 1'; return text.length",
    'return `async function`.length // async () => {}',
    'const o = {async: 1, await: 2}; return o.async',
    'const async = 3; return async',
    'const o = {async() { return 4 }}; return o.async()',
    'function* g() { yield 5 } return [...g()][0]',
    `function go(k) { return runs.run(k, ${P}) } return (await go('a')).ok`,
    `return (await ['a', 'b'].reduce((p, k) => p.then(() => runs.run(k, ${P})), Promise.resolve())).key`,
    `for await (const r of [runs.run('a', ${P})]) return r.key`,
    `return await new Promise((r) => r(runs.run('a', ${P}).then((x) => x.key)))`,
  ];
  for (const script of accepted) {
    it(`wf-7 accepted: ${script.slice(0, 60)}`, async () => {
      expect(await play(script)).toMatchObject({ ok: true });
    });
  }

  it('wf-8 the message says that nothing was launched and offers the three ways', async () => {
    const { error } = await play('await (async () => 1)()');
    expect(error?.message).toMatch(/no children were launched/);
    expect(error?.message).toMatch(/await at the top level/);
    expect(error?.message).toMatch(/plain function that returns the launch/);
    expect(error?.message).toMatch(/promise chain/);
  });

  it('wf-9 text that closes the body and opens it again is refused', async () => {
    for (const script of [
      '}; emit(1); (async () => {',
      '}\nemit(1)\nasync () => {',
      '})(); emit(1); (async () => {',
      '}); globalThis.x = async () => {',
    ]) {
      const { error, emits } = await play(script);
      expect(error?.kind).toBe('syntax');
      expect(emits).toEqual([]);
    }
  });

  it('wf-10 the engine needs no package and no certain folder', async () => {
    const worker = await engineWorker();
    const text = await readFile(worker, 'utf8');
    const imports = [...text.matchAll(/^import .* from "([^"]+)"/gm)].map(([, from]) => from);
    expect(imports.length).toBeGreaterThan(0);
    expect(
      imports.filter(
        (from) =>
          !/^(?:node:)?(?:fs\/promises|worker_threads|[a-z_]+)$/.test(from ?? '') ||
          /quickjs|acorn|zod/.test(from ?? ''),
      ),
    ).toEqual([]);
    expect(dirname(worker).startsWith(projectRoot())).toBe(false);
    expect(await play('return 1')).toMatchObject({ ok: true, value: 1 });
  });

  it('what the parser knows and the engine does not is a syntax error too', async () => {
    const { error, keys } = await play(`await runs.run('a', ${P});\nreturn /(?<a>x)(?<a>y)/u`);
    expect(error?.kind).toBe('syntax');
    expect(keys).toEqual([]);
  });

  it('B69 arguments arrive as they were given', async () => {
    for (const args of [{ issue: 17, list: [1, { a: null }] }, [1, 2], 'text', 5, null, false]) {
      expect((await play('return args', { args })).value).toEqual(args);
    }
    expect((await play('const {issue} = args; return issue', { args: { issue: 17 } })).value).toBe(17);
    expect((await play('return typeof args')).value).toBe('undefined');
    expect(await play('return 1', { args: { when: new Date(0) } })).toMatchObject({
      ok: false,
      error: { kind: 'boundary', message: expect.stringContaining('args.when') },
    });
  });
});

it('the check knows exactly the names that the engine has', async () => {
  const script = 'return Object.getOwnPropertyNames(globalThis)';
  const { value } = await play(script, { state: { get: async () => undefined, set: async () => undefined } });
  expect([...SCRIPT_GLOBALS].sort()).toEqual([...(value as string[])].sort());
});
