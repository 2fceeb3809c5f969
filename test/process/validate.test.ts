/** The check of workflow scripts for CI and for programs: the built command line and the built module. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { plainFinding } from '../../src/protocol/index.ts';
import { projectRoot } from '../support/project-root.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { testBundles } from '../support/world.ts';

const run = promisify(execFile);
const failure = z.object({ code: z.number(), stdout: z.string(), stderr: z.string() });

let dist: string;
let folder: TempDir;

beforeAll(async () => {
  dist = await testBundles();
  folder = await tempDir();
});
afterAll(() => folder?.[Symbol.asyncDispose]());

async function cli(...args: string[]) {
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder.path, PI_CODING_AGENT_DIR: join(folder.path, 'agent') };
  try {
    return {
      code: 0,
      ...(await run(process.execPath, [join(dist, 'cli.mjs'), 'validate', ...args], { cwd: folder.path, env })),
    };
  } catch (error) {
    return failure.parse(error);
  }
}

async function script(name: string, text: string): Promise<string> {
  await writeFile(join(folder.path, name), text);
  return name;
}

const RIGHT = "const one = await runs.run('one', { agent: 'scout', task: 'Look.' });\nreturn one.output;\n";
const WRONG = "\tconst r = await runs.all([{ key: 'a', agent: 'scout' }]);\n\treturn r.a.output;\n";
const WARNED = "await fetch('x');\n";

describe('pi-lanes validate', () => {
  test('passes right scripts, warnings included, with 0', async () => {
    const result = await cli(await script('right.js', RIGHT), await script('warned.js', WARNED));
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toMatch(/^warned\.js:1:7 global_missing \(warning\) /m);
    expect(result.stdout).toContain('2 scripts: 0 errors, 1 warning\n');
  });

  test('fails wrong ones with 1, showing the place', async () => {
    const result = await cli(await script('wrong.js', WRONG), await script('right.js', RIGHT));
    expect(result.code).toBe(1);
    const [first, line, marks, related] = result.stdout.split('\n');
    expect(first).toMatch(/^wrong\.js:2:11 batch_keyed_read "a" is read from the results of runs\.all\./);
    expect(line).toBe('  \treturn r.a.output;');
    expect(marks).toBe('  \t         ^');
    expect(related).toMatch(/^ {2}wrong\.js:1:35 /);
  });

  test('wf-28 is one JSON object for programs, and ends with 1 exactly when a script is wrong', async () => {
    for (const [name, text] of Object.entries({
      'right.js': RIGHT,
      'warned.js': WARNED,
      'wrong.js': WRONG,
      'blank.js': ' \n',
    })) {
      const { code, stdout } = await cli('--json', await script(name, text));
      const { ok, files } = z
        .object({ ok: z.boolean(), files: z.array(z.object({ errors: z.array(plainFinding) })) })
        .parse(JSON.parse(stdout));
      expect({ name, code, ok }).toEqual({
        name,
        code: ok ? 0 : 1,
        ok: files.every(({ errors }) => errors.length === 0),
      });
      expect(ok).toBe(name === 'right.js' || name === 'warned.js');
    }

    const result = await cli('--json', await script('wrong.js', `\uFEFF${WRONG}`), await script('right.js', RIGHT));
    expect(result.code).toBe(1);
    const shape = z.object({
      schemaVersion: z.literal(1),
      ok: z.literal(false),
      files: z.array(
        z.object({ file: z.string(), ok: z.boolean(), errors: z.array(plainFinding), warnings: z.array(plainFinding) }),
      ),
    });
    // What only the editor needs stays out.
    expect(result.stdout).not.toContain('"words"');
    const { files } = shape.parse(JSON.parse(result.stdout));
    expect(files.map(({ file, ok }) => ({ file, ok }))).toEqual([
      { file: 'wrong.js', ok: false },
      { file: 'right.js', ok: true },
    ]);
    expect(files[0]?.errors).toMatchObject([
      { code: 'batch_keyed_read', line: 2, column: 11, fix: { kind: 'destructure_batch' } },
    ]);
  });

  test('wf-30 refuses with 2 what cannot be read, naming the path and the reason, and says nothing of the rest', async () => {
    await mkdir(join(folder.path, 'folder.js'));
    for (const name of ['missing.js', 'folder.js']) {
      const result = await cli(await script('wrong.js', WRONG), name);
      expect(result.code).toBe(2);
      expect(result.stdout).toBe('');
      expect(result.stderr).toContain(join(folder.path, name));
    }
    expect((await cli()).stderr).toContain('The script file is missing.');
  });

  test('knows how many children are allowed', async () => {
    const two = await script('two.js', `${RIGHT.split('\n')[0]}\nreturn runs.run('two', { agent: 'scout' });\n`);
    expect((await cli(two, '--max-spawns', '2')).code).toBe(0);
    const result = await cli(two, '--max-spawns', '1');
    expect(result).toMatchObject({ code: 1, stdout: expect.stringContaining('spawn_budget') });
    expect(await cli(two, '--max-spawns', 'many')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--max-spawns'),
    });
  });

  test('wf-29 leaves nothing behind', async () => {
    await cli(await script('right.js', RIGHT));
    await expect(run('ls', [join(folder.path, 'agent')])).rejects.toThrow();
  });
});

describe('validateWorkflow', () => {
  const program = (body: string) =>
    `import { validateWorkflow } from ${JSON.stringify(pathToFileURL(join(dist, 'api.js')).href)};\n${body}`;

  test('answers, and lets the process end', async () => {
    const body = `console.log(JSON.stringify(await Promise.all([validateWorkflow('emit(undefined)'), validateWorkflow('return 1', { maxSubagentSpawnsPerRun: 1 })])))`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program(body)]);
    expect(JSON.parse(stdout)).toEqual([
      { ok: false, errors: [expect.objectContaining({ code: 'not_json', line: 1, column: 6 })], warnings: [] },
      { ok: true, errors: [], warnings: [] },
    ]);
  });

  test('refuses what is no script and no such options', async () => {
    const body = `for (const args of [[1], [null], ['x', { maxSubagentSpawnsPerRun: 0 }], ['x', { maxSubagentSpawnsPerRun: '2' }]])
      await validateWorkflow(...args).then(() => console.log('taken'), (error) => console.log(error.name, error.message));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program(body)]);
    expect(stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^TypeError .*number/),
      expect.stringMatching(/^TypeError .*null/),
      expect.stringMatching(/^TypeError .*maxSubagentSpawnsPerRun/),
      expect.stringMatching(/^TypeError .*maxSubagentSpawnsPerRun/),
    ]);
  });

  test('has types that a program can rely on', async () => {
    const [right, wrong] = [join(folder.path, 'right.ts'), join(folder.path, 'wrong.ts')];
    const from = `import { validateWorkflow, type WorkflowFinding } from ${JSON.stringify(join(dist, 'api.js'))};\n`;
    await writeFile(
      right,
      `${from}const { ok, errors } = await validateWorkflow('x', { maxSubagentSpawnsPerRun: 2 });\nexport const all: [boolean, WorkflowFinding[]] = [ok, errors];\n`,
    );
    await writeFile(wrong, `${from}export const ok: string = (await validateWorkflow(1)).ok;\n`);
    const compilerOptions = { noEmit: true, strict: true, module: 'nodenext', target: 'es2022', types: [] };
    const compiler = join(projectRoot(), 'node_modules', 'typescript', 'bin', 'tsc');
    const tsc = async (file: string) => {
      const project = join(folder.path, 'tsconfig.json');
      await writeFile(project, JSON.stringify({ compilerOptions, files: [file] }));
      return run(process.execPath, [compiler, '-p', project]);
    };
    await writeFile(join(folder.path, 'package.json'), '{ "type": "module" }');
    await tsc(right);
    await expect(tsc(wrong)).rejects.toMatchObject({ stdout: expect.stringMatching(/TS2345|TS2322/) });
  });
});
