/** A closed world for whole-path tests: scripted model, agent directory, a project to work in, and the built bundles. */
import { execFile } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Toolbox } from '../../src/client/index.ts';
import type { Writers } from '../../src/protocol/index.ts';
import { type AgentDir, type AgentDirOptions, createAgentDir } from './agent-dir.ts';
import { type PiVersion, piCli } from './pi-versions.ts';
import { projectRoot } from './project-root.ts';
import { type ScriptedModel, type ScriptedModelOptions, startScriptedModel } from './scripted-model/index.ts';
import { type TempDir, tempDir } from './temp.ts';

const run = promisify(execFile);

export interface WorldOptions {
  pi?: PiVersion;
  /** Another Pi installation instead: a script or a package folder. */
  piPath?: string;
  models?: AgentDirOptions['models'];
  settings?: AgentDirOptions['settings'];
  /** The executable that runs runner and Pi. Default: the one that runs the tests. */
  node?: string;
  /** Name of the project's folder. */
  project?: string;
  /** Minified bundles, as they are shipped. */
  minify?: boolean;
  /** Scripts of the model beside the built-in ones. */
  scripts?: ScriptedModelOptions['scripts'];
  /** The project is a git repository with one commit. Default true. */
  git?: boolean;
  /** What children do that may change files where another one does. Default: nothing, so that runs of a test do not wait for others. */
  writers?: Writers;
}

export interface World extends AsyncDisposable {
  model: ScriptedModel;
  agent: AgentDir;
  /** The folder agents work in. */
  project: string;
  /** The whole environment for clients and servers. */
  env: Record<string, string>;
  /** Folder with the built bundles. */
  dist: string;
  toolbox: Toolbox;
  /** Runs the command line in the project. Never throws for an exit code. */
  cli(args: string[], options?: { env?: Record<string, string>; cwd?: string }): Promise<CliResult>;
}

export interface CliResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Names the folder with bundles that are built already (not minified). */
export const BUILT_BUNDLES = 'PI_LANES_TEST_BUNDLES';

/** The bundles under test: in a folder of their own for each test process. */
let bundles: Promise<TempDir> | undefined;

export async function testBundles(minify = false): Promise<string> {
  bundles ??= (async () => {
    const folder = await tempDir();
    const outdir = join(folder.path, 'dist');
    const built = process.env[BUILT_BUNDLES];
    if (built !== undefined && !minify) {
      await cp(built, outdir, { recursive: true });
      return folder;
    }
    // Found at run time: esbuild's own packages cannot be bundled into a measurement.
    const { buildAll } = await import(pathToFileURL(join(projectRoot(), 'esbuild.mjs')).href);
    await buildAll({ outdir, extension: false, minify });
    return folder;
  })();
  return join((await bundles).path, 'dist');
}

export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const stack = new AsyncDisposableStack();
  const model = await startScriptedModel(options.scripts ? { scripts: options.scripts } : {});
  stack.defer(() => model.close());
  const agent = stack.use(
    await createAgentDir({
      modelUrl: model.url,
      ...(options.models === undefined ? {} : { models: options.models }),
      ...(options.settings === undefined ? {} : { settings: options.settings }),
    }),
  );
  const temp = stack.use(await tempDir());
  const project = join(temp.path, options.project ?? 'project');
  await mkdir(project, { recursive: true });
  await writeFile(join(project, 'README.md'), '# A project\n\nSomething to work on.\n');
  if (options.git !== false) await makeRepository(project);
  const env = {
    ...agent.env,
    PI_LANES_PI: options.piPath ?? (await piCli(options.pi ?? '1.6')),
    PI_LANES_NODE: options.node ?? process.execPath,
    PI_LANES_WRITERS: options.writers ?? 'any',
  };
  const dist = await testBundles(options.minify);
  const client = { kind: 'cli', version: 'test' };
  const cli: World['cli'] = async (args, given = {}) => {
    const spawned = run(process.execPath, [join(dist, 'cli.mjs'), ...args], {
      cwd: given.cwd ?? project,
      env: given.env ?? env,
      maxBuffer: 64 * 1024 * 1024,
    });
    spawned.child.stdin?.end();
    try {
      return { code: 0, ...(await spawned) };
    } catch (error) {
      if (!isFailure(error)) throw error;
      return { code: error.code, stdout: error.stdout, stderr: error.stderr };
    }
  };
  return {
    model,
    agent,
    project,
    env,
    dist,
    toolbox: new Toolbox({ env, distDirectory: dist, client }),
    cli,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function isFailure(error: unknown): error is { code: number; stdout: string; stderr: string } {
  return error instanceof Error && 'stdout' in error && 'code' in error && typeof error.code === 'number';
}

/** A git repository with everything in the folder committed, independent of the machine's git settings. */
export async function makeRepository(folder: string): Promise<void> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' };
  const git = (...args: string[]) => run('git', args, { cwd: folder, env });
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '--all');
  await git('-c', 'user.name=Tester', '-c', 'user.email=tester@example.invalid', 'commit', '--quiet', '-m', 'Start');
}
