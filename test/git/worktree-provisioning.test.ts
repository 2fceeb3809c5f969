/** What is put into a worktree besides the checkout, and that it is nobody's work. */
import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Git } from '../../src/core/git/index.ts';
import { checkSources, type Provisions, provisionWorktree } from '../../src/core/worktrees/index.ts';
import type { WorktreeRecord } from '../../src/protocol/index.ts';
import { commitAll, git, makeRepository, stateOf, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { Bench } from '../support/worktrees.ts';

const posix = process.platform !== 'win32';
let folder: TempDir;
let bench: Bench;
const at = (...parts: string[]) => join(folder.path, ...parts);
const gone = { worktreeRemoved: true, branchRemoved: true, reasons: [] };

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  await mkdir(at('store'));
  bench = await Bench.make(at('repo'), at('store'), { 'a.txt': 'one\n', '.gitignore': '.env*\nnode_modules/\n' });
});

afterEach(() => folder.remove());

/** A worktree with these provisions. */
async function ready(
  provisions: Provisions = {},
  options: { by?: Git; baseRef?: string } = {},
): Promise<WorktreeRecord> {
  const by = options.by ?? bench.git;
  bench.provision = (record, signal) => provisionWorktree(by, record, provisions, signal);
  return bench.one(options.baseRef === undefined ? {} : { baseRef: options.baseRef });
}

describe('files that git ignores', () => {
  it('are copied as they were named, and are no work while nobody changes them', async () => {
    await write(bench.path, {
      '.env': 'SECRET=1',
      'пакет/.env.local': 'x',
      '.env.other': 'y',
      'node_modules/p/.env': 'z',
    });
    const tree = await ready({ copies: ['.env', '.env.local'] });
    expect(await readFile(join(tree.path, '.env'), 'utf8')).toBe('SECRET=1');
    expect(await readFile(join(tree.path, 'пакет', '.env.local'), 'utf8')).toBe('x');
    expect(existsSync(join(tree.path, '.env.other'))).toBe(false);
    expect(bench.told.at(-1)).toEqual({ provisioned: tree });
    const untouched = await bench.capture(tree);
    expect(untouched.capture).toMatchObject({ changed: false, outside: { files: 0 } });
    await write(tree.path, { '.env': 'SECRET=2' });
    const kept = await bench.capture(tree);
    expect(kept.capture.outside.listed).toMatchObject([{ path: '.env' }]);
    expect(await readFile(join(kept.folder, 'files', '.env'), 'utf8')).toBe('SECRET=2');
    expect(await bench.remove(tree, kept)).toEqual(gone);
    expect(await readFile(join(bench.path, '.env'), 'utf8')).toBe('SECRET=1');
  });

  it('beyond the budget are left out, with a warning', async () => {
    await write(bench.path, { '.env.big': Buffer.alloc(3000), '.env.small': 'x' });
    const tree = await ready({ copies: ['.env*'], maxCopyBytes: 2000 });
    expect(tree.warnings).toMatchObject([{ text: 'worktree_incomplete:budget', params: { files: 1 } }]);
    expect(existsSync(join(tree.path, '.env.small'))).toBe(true);
    expect(existsSync(join(tree.path, '.env.big'))).toBe(false);
  });
});

describe('dependencies', () => {
  it('are linked, are in no patch, and live on when the worktree goes', async () => {
    await write(bench.path, { '.gitignore': 'node_modules\nlibs\n' });
    await commitAll(bench.path, 'ignore');
    await write(bench.path, { 'node_modules/p/index.js': 'dependency', 'libs/x': 'x' });
    const tree = await ready({ links: ['node_modules', 'libs', 'missing'] });
    expect(tree.synthetic).toEqual([
      { path: 'node_modules', link: true },
      { path: 'libs', link: true },
    ]);
    expect((await lstat(join(tree.path, 'node_modules'))).isSymbolicLink()).toBe(true);
    const kept = await bench.capture(tree);
    expect(kept.capture).toMatchObject({ changed: false, outside: { files: 0 } });
    expect(await bench.remove(tree, kept)).toEqual(gone);
    expect(await readFile(join(bench.path, 'node_modules', 'p', 'index.js'), 'utf8')).toBe('dependency');
  });

  it('are linked one by one where a link would be seen by git', async () => {
    await write(bench.path, { 'node_modules/p/index.js': 'dependency', 'node_modules/@scope/q/index.js': 'other' });
    const tree = await ready();
    expect((await lstat(join(tree.path, 'node_modules'))).isDirectory()).toBe(true);
    expect(await readFile(join(tree.path, 'node_modules', '@scope', 'q', 'index.js'), 'utf8')).toBe('other');
    await git(tree.path, 'add', '--all');
    expect(await git(tree.path, 'status', '--porcelain')).toBe('');
    await write(tree.path, { 'node_modules/own/index.js': 'installed here' });
    expect(existsSync(join(bench.path, 'node_modules', 'own'))).toBe(false);
    const kept = await bench.capture(tree);
    expect(kept.capture).toMatchObject({ changed: false, outside: { files: 0 }, disposable: { files: 3 } });
    expect(await bench.remove(tree, kept)).toEqual(gone);
    expect(await readFile(join(bench.path, 'node_modules', 'p', 'index.js'), 'utf8')).toBe('dependency');
  });

  it('are left out where git would see them as new', async () => {
    await write(bench.path, { '.gitignore': '*.js\n', 'node_modules/p/index.js': 'x' });
    await commitAll(bench.path, 'ignore');
    const tree = await ready();
    expect(existsSync(join(tree.path, 'node_modules'))).toBe(false);
  });

  it('are not linked for another commit than they were installed for', async () => {
    await git(bench.path, 'tag', 'v1');
    await write(bench.path, { 'a.txt': 'two\n' });
    await commitAll(bench.path, 'second');
    await write(bench.path, { 'node_modules/p/index.js': 'x' });
    expect((await ready({}, { baseRef: 'v1' })).synthetic).toEqual([]);
  });

  it('run-126 that are tracked stay what they are', async () => {
    await write(bench.path, { '.gitignore': '', 'node_modules/p/index.js': 'tracked' });
    await commitAll(bench.path, 'vendored');
    const tree = await ready();
    expect(tree.synthetic).toEqual([]);
    await write(tree.path, { 'node_modules/p/index.js': 'changed' });
    expect((await bench.capture(tree)).capture.patch?.files).toBe(1);
  });
});

describe('submodules', () => {
  it('B17 are filled where the source has them, and are named when they cannot be', async () => {
    const lib = await makeRepository(at('lib ü'), { 'agents/scout.md': 'scout' });
    await git(bench.path, 'submodule', '--quiet', 'add', lib, 'vendor/lib');
    await commitAll(bench.path, 'submodule');
    // Git does not clone from a folder by itself unless that is configured.
    const refused = await ready();
    expect(refused.warnings).toMatchObject([{ text: 'worktree_incomplete:submodules' }]);
    expect(refused.warnings[0]?.message).toMatch(/submodule/);
    expect(await bench.remove(refused, await bench.capture(refused))).toEqual(gone);
    await write(at('home'), { '.gitconfig': '[protocol "file"]\n\tallow = always\n' });
    const by = await Git.find({ cwd: folder.path, env: { ...process.env, HOME: at('home'), USERPROFILE: at('home') } });
    const tree = await ready({}, { by });
    expect(tree.warnings).toEqual([]);
    expect(await readFile(join(tree.path, 'vendor', 'lib', 'agents', 'scout.md'), 'utf8')).toBe('scout');
    expect(await bench.remove(tree, await bench.capture(tree))).toEqual(gone);
    await git(bench.path, 'submodule', '--quiet', 'deinit', '--force', 'vendor/lib');
    expect((await ready()).warnings).toEqual([]);
  });
});

describe('hooks of the repository', () => {
  it('B21 that are not active in the worktree are noticed', async () => {
    await git(bench.path, 'config', 'core.hooksPath', '.husky/_');
    await write(bench.path, { '.gitignore': '.husky/_\n', '.husky/_/pre-commit': '#!/bin/sh\n' });
    await commitAll(bench.path, 'husky');
    expect((await ready()).warnings).toMatchObject([
      { text: 'worktree_incomplete:hooks', params: { path: '.husky/_' } },
    ]);
    expect((await ready({ copies: ['.husky/_/*'] })).warnings).toEqual([]);
    await git(bench.path, 'config', 'core.hooksPath', at('shared hooks'));
    expect((await ready()).warnings).toEqual([]);
  });
});

describe.runIf(posix)('the setup hook', () => {
  const quoted = (path: string) => `'${path.replaceAll("'", "'\\''")}'`;

  async function hook(script: string): Promise<string> {
    await writeFile(at('setup'), `#!/bin/sh\n${script}\n`);
    await chmod(at('setup'), 0o755);
    return at('setup');
  }

  it('is told about the worktree, and its files are no work', async () => {
    const path = await hook(
      `cat > ${quoted(at('told'))}; mkdir -p deps; pwd > deps/where; echo '{ "syntheticPaths": ["deps/", "./deps"] }'`,
    );
    const tree = await ready({ setupHook: { path }, agent: 'worker' });
    expect(tree.synthetic).toEqual([{ path: 'deps' }]);
    expect(await readFile(join(tree.path, 'deps', 'where'), 'utf8')).toBe(`${tree.path}\n`);
    expect(JSON.parse(await readFile(at('told'), 'utf8'))).toEqual({
      version: 1,
      repoRoot: bench.path,
      worktreePath: tree.path,
      agentCwd: tree.folder,
      branch: tree.branch,
      index: 0,
      runId: tree.runId,
      baseCommit: tree.base,
      agent: 'worker',
    });
    const kept = await bench.capture(tree);
    expect(kept.capture).toMatchObject({ changed: false, outside: { files: 0 } });
    expect(await bench.remove(tree, kept)).toEqual(gone);
  });

  it('run-125 that is no file is refused before anything starts', async () => {
    const check = (path: string) => checkSources(bench.git, [{ key: 'fix', cwd: bench.path }], { setupHook: path });
    await write(bench.path, { 'tools/setup.sh': { content: '#!/bin/sh\necho "{}"\n', mode: 0o755 } });
    await commitAll(bench.path, 'hook');
    for (const path of ['setup', 'npm', './missing.sh', at('repo')]) {
      await expect(check(path), path).rejects.toMatchObject({ code: 'worktree_refused' });
    }
    await check('tools/setup.sh');
    expect((await ready({ setupHook: { path: './tools/setup.sh' } })).synthetic).toEqual([]);
  });

  it.each<[what: string, script: string, reason: RegExp]>([
    ['exits with another code', 'echo "{}"; echo "no luck" >&2; exit 3', /exit code 3 no luck/],
    ['takes too long', 'sleep 60', /took longer than 1 seconds/],
    ['prints too much', 'yes x | head -c 2000000', /more than 1048576 bytes/],
    ['prints nothing', ':', /did not print one JSON object/],
    ['prints two objects', 'echo "{}"; echo "{}"', /did not print one JSON object/],
    ['prints a list', 'echo "[]"', /what it printed is not/],
    ['names an absolute path', `echo '{"syntheticPaths":["/etc"]}'`, /it is absolute/],
    ['names the worktree itself', `echo '{"syntheticPaths":["x/.."]}'`, /not inside the worktree/],
    ['names what is outside', `echo '{"syntheticPaths":["../x"]}'`, /not inside the worktree/],
    ['names what is tracked', `echo '{"syntheticPaths":["a.txt"]}'`, /it is tracked/],
    ['names what is not there', `echo '{"syntheticPaths":["nothing"]}'`, /no such file/],
  ])('run-125 that %s takes back every worktree of the group', async (_, script, reason) => {
    await write(bench.path, { 'node_modules/sentinel': 'alive' });
    const before = await stateOf(bench.path);
    // The first of the two is made ready; the second is not.
    const count = quoted(at('count'));
    const path = await hook(
      `cat > /dev/null; echo x >> ${count}; if [ "$(wc -l < ${count})" = 1 ]; then echo "{}"; exit 0; fi\n${script}`,
    );
    bench.provision = (record, signal) =>
      provisionWorktree(bench.git, record, { setupHook: { path, timeoutMs: 800 } }, signal);
    await expect(bench.allocate(['one', 'two'])).rejects.toMatchObject({
      code: 'worktree_setup_failed',
      message: expect.stringMatching(reason),
    });
    expect(await stateOf(bench.path)).toEqual(before);
    expect(existsSync(at('repo.worktrees'))).toBe(false);
    expect(await readFile(join(bench.path, 'node_modules', 'sentinel'), 'utf8')).toBe('alive');
  });

  it('is ended when the run is stopped', async () => {
    const path = await hook(`echo x > ${quoted(at('began'))}; sleep 600`);
    const before = await stateOf(bench.path);
    bench.provision = (record, signal) => provisionWorktree(bench.git, record, { setupHook: { path } }, signal);
    const controller = new AbortController();
    const failed = expect(bench.allocate(['one'], { signal: controller.signal })).rejects.toThrow();
    while (!existsSync(at('began'))) await new Promise((resolve) => setTimeout(resolve, 10));
    controller.abort();
    await failed;
    expect(await stateOf(bench.path)).toEqual(before);
    await rm(at('began'));
  });
});
