/** The editor's own JavaScript service with the plugin: what it knows and says of scripts, and of files that are none. */
import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { prepareEditor } from '../harness/prepare.ts';
import { projectRoot } from '../support/project-root.ts';
import { tempDir } from '../support/temp.ts';

const FILES = {
  'a.workflow.js': `// @ts-check
const rows = await runs.all([{ key: 'a', agent: 'scout' }]);
for await (const row of rows) emit(row.output);
const shared = 1;
function later() { return runs.run('k', { agent: 'scout' }).then((result) => result.output); }
return [shared, await later(), args?.issue.title];
`,
  'workflows/b.js':
    "// @ts-check\nconst shared = 'another file has this name, too';\nreturn shared + (await runs.status('k')).ok;\n",
  'wrong.workflow.js':
    "// @ts-check\nconst row = await runs.run('k', { agent: 7 });\nconst unused = 1;\nreturn row.output;\n",
  'plain.js': '// @ts-check\nreturn 1;\n',
  'names.js': 'const args = [1];\nconst state = 1;\nconsole.log(args, state);\n',
};

const response = z.object({
  type: z.literal('response'),
  request_seq: z.number(),
  success: z.boolean(),
  body: z.optional(z.unknown()),
});
const diagnostics = z.array(z.object({ code: z.number(), text: z.string() }));

const stack = new AsyncDisposableStack();
let folder: string;
let ask: (command: string, args: object) => Promise<unknown>;
let configure: (folders: string[]) => void;

beforeAll(async () => {
  const temp = stack.use(await tempDir());
  folder = temp.path;
  // An extension as it is installed: its bundles, and the package that leads tsserver to them.
  const extension = join(folder, 'extension');
  const { buildAll, TYPESCRIPT_PLUGIN } = await import(pathToFileURL(join(projectRoot(), 'esbuild.mjs')).href);
  await buildAll({ outdir: join(extension, 'dist') });
  for (const [path, text] of Object.entries(z.record(z.string(), z.string()).parse(TYPESCRIPT_PLUGIN))) {
    await mkdir(join(extension, path, '..'), { recursive: true });
    await writeFile(join(extension, path), text);
  }
  await mkdir(join(folder, 'project', 'workflows'), { recursive: true });
  for (const [path, text] of Object.entries(FILES)) await writeFile(join(folder, 'project', path), text);

  const { codeServer } = await prepareEditor();
  const tsserver = join(codeServer, 'lib', 'vscode', 'extensions', 'node_modules', 'typescript', 'lib', 'tsserver.js');
  const plugin = ['--globalPlugins', 'pi-lanes-typescript', '--pluginProbeLocations', extension];
  const server = spawn(
    process.execPath,
    [
      tsserver,
      ...plugin,
      '--suppressDiagnosticEvents',
      '--useInferredProjectPerProjectRoot',
      '--disableAutomaticTypingAcquisition',
    ],
    { stdio: ['pipe', 'pipe', 'ignore'] },
  );
  stack.defer(() => {
    server.kill();
  });
  const waiting = new Map<number, (body: unknown) => void>();
  createInterface({ input: server.stdout }).on('line', (line) => {
    if (!line.startsWith('{')) return;
    const read = response.safeParse(JSON.parse(line));
    if (read.success) waiting.get(read.data.request_seq)?.(read.data.body);
  });
  let seq = 0;
  const send = (command: string, args: object) => {
    seq += 1;
    server.stdin.write(`${JSON.stringify({ seq, type: 'request', command, arguments: args })}\n`);
    return seq;
  };
  ask = (command, args) =>
    new Promise((resolve) => {
      waiting.set(send(command, args), resolve);
    });
  configure = (folders) => {
    send('configurePlugin', { pluginName: 'pi-lanes-typescript', configuration: { folders } });
  };
  for (const path of Object.keys(FILES)) {
    send('open', { file: join(folder, 'project', path), projectRootPath: join(folder, 'project') });
  }
});
afterAll(() => stack.disposeAsync());

async function complaints(path: string): Promise<number[]> {
  const file = join(folder, 'project', path);
  const found = [
    ...diagnostics.parse(await ask('syntacticDiagnosticsSync', { file })),
    ...diagnostics.parse(await ask('semanticDiagnosticsSync', { file })),
    ...diagnostics.parse(await ask('suggestionDiagnosticsSync', { file })),
  ];
  return found.map(({ code }) => code);
}

test('return and await at the top are right in scripts, whose names are their own', async () => {
  expect(await complaints('a.workflow.js')).toEqual([]);
  // The editor says which folders hold scripts when it can, which may be after their files were opened.
  expect(await complaints('workflows/b.js')).toEqual([1108]);
  configure([join(folder, 'project', 'workflows')]);
  expect(await complaints('workflows/b.js')).toEqual([]);
});

test('what is wrong stays wrong, in scripts and elsewhere', async () => {
  // A number is no name of an agent.
  expect(await complaints('wrong.workflow.js')).toEqual([2322, 6133]);
  // Outside of functions nothing returns.
  expect(await complaints('plain.js')).toEqual([1108]);
  // The names that scripts have are free for others.
  expect(await complaints('names.js')).toEqual([]);
});

test('members, parameters and their meaning are known', async () => {
  const file = join(folder, 'project', 'a.workflow.js');
  const info = z.object({ displayString: z.string(), documentation: z.string() });
  const hover = info.parse(await ask('quickinfo', { file, line: 2, offset: 25 }));
  expect(hover.displayString).toContain('Promise<PiLanesResult[]>');
  expect(hover.documentation).toContain('all or none');
  const entries = z.object({ entries: z.array(z.object({ name: z.string(), kind: z.string() })) });
  const members = entries.parse(await ask('completionInfo', { file, line: 2, offset: 25 })).entries;
  expect(
    members
      .filter(({ kind }) => kind === 'method')
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['all', 'host', 'lanes', 'ref', 'refs', 'run', 'status', 'steer']);
  const help = z.object({ items: z.array(z.object({ parameters: z.array(z.object({ name: z.string() })) })) });
  const signature = help.parse(await ask('signatureHelp', { file, line: 5, offset: 36 }));
  expect(signature.items[0]?.parameters.map(({ name }) => name)).toEqual(['key', 'launch']);
});
