/** Making worktrees: what is refused before anything starts, where they are made, and that a failure leaves nothing behind. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BRANCH_PREFIX, checkSources, identityFault, nameWorktree } from '../../src/core/worktrees/index.ts';
import { commitAll, git, makeRepository, stateOf, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { Bench, RUN } from '../support/worktrees.ts';

const posix = process.platform !== 'win32';
let folder: TempDir;
let bench: Bench;
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  await mkdir(at('store'));
  bench = await Bench.make(at('repo'), at('store'));
});

afterEach(() => folder.remove());

const check = (path: string, options = {}) => checkSources(bench.git, [{ key: 'fix', cwd: path }], options);
const refused = (text: string) => expect.objectContaining({ text: `worktree_refused:${text}` });
const reasonOf = (path: string, options = {}) =>
  check(path, options).then(
    () => 'accepted',
    (error: { toValue(): unknown }) => error.toValue(),
  );

describe('before anything starts', () => {
  it('run-118 changes that are not committed refuse it; those of runs and ignored files do not', async () => {
    await write(bench.path, { '.gitignore': 'build/\n' });
    await commitAll(bench.path, 'ignore');
    await write(bench.path, { 'build/out.txt': 'x', '.pi/subagents/cleanup-plans/p.json': '{}' });
    await check(bench.path);
    await write(bench.path, { '.pi/settings.json': '{}' });
    expect(await reasonOf(bench.path)).toMatchObject({
      text: 'worktree_refused:dirty',
      params: { files: '.pi/settings.json' },
    });
    await rm(join(bench.path, '.pi', 'settings.json'));
    for (const change of ['new ü.txt', 'a.txt']) {
      await write(bench.path, { [change]: 'changed' });
      expect(await reasonOf(join(bench.path, 'src'))).toEqual(refused('dirty'));
      await git(bench.path, 'add', '--all', '--', change);
      expect(await reasonOf(bench.path)).toEqual(refused('dirty'));
      await git(bench.path, 'rm', '--quiet', '--cached', '--force', change);
      await git(bench.path, 'reset', '--quiet', '--hard');
      await rm(join(bench.path, change), { force: true });
      await git(bench.path, 'checkout', '--', '.');
    }
    await check(bench.path);
  });

  it('run-119 bare, outside of git, inside of .git and without a commit are four refusals', async () => {
    await git(folder.path, 'clone', '--quiet', '--bare', bench.path, at('bare.git'));
    await mkdir(at('plain'));
    await mkdir(at('unborn'));
    await git(at('unborn'), 'init', '--quiet');
    const cases = { 'bare.git': 'bare', plain: 'no-repository', 'repo/.git': 'git-folder', unborn: 'unborn' };
    for (const [path, text] of Object.entries(cases)) expect(await reasonOf(at(path)), path).toEqual(refused(text));
  });

  it('a group is refused as a whole, naming children and folder; each folder is looked at once', async () => {
    const other = await makeRepository(at('other'));
    await write(other, { 'dirty.txt': 'x' });
    const wishes = [
      { key: 'one', cwd: bench.path },
      { key: 'two', cwd: other },
      { key: 'three', cwd: bench.path },
      { key: 'four', cwd: other },
    ];
    await expect(checkSources(bench.git, wishes)).rejects.toMatchObject({
      code: 'worktree_refused',
      message: expect.stringMatching(/^No worktree can be made for two, four: .*other has changes .*: dirty.txt\.$/),
    });
    expect(existsSync(at('repo.worktrees'))).toBe(false);
    await rm(join(other, 'dirty.txt'));
    const sources = await checkSources(bench.git, wishes);
    expect(sources.map(({ root }) => root)).toEqual([bench.path, other, bench.path, other]);
  });

  it('run-122 children that share a folder must work in it; the first that does not is named', async () => {
    const wishes = ['one', 'two', 'three'].map((key) => ({ key, cwd: bench.path }));
    expect(await checkSources(bench.git, wishes, { shared: join(bench.path, 'src', '..') })).toHaveLength(3);
    wishes[1] = { key: 'two', cwd: join(bench.path, 'src') };
    await expect(checkSources(bench.git, wishes, { shared: bench.path })).rejects.toMatchObject({
      message: expect.stringContaining('made for two: it should work in'),
    });
  });

  it('the base is a branch, a tag or HEAD, and is resolved once', async () => {
    const first = await git(bench.path, 'rev-parse', 'HEAD');
    await git(bench.path, 'tag', '-a', '-m', 'x', 'v1');
    await git(bench.path, 'branch', 'ветка');
    const second = await commitAll(bench.path, 'second');
    for (const [baseRef, base] of Object.entries({
      HEAD: second,
      main: second,
      v1: first,
      ветка: first,
      'refs/heads/main': second,
    })) {
      expect((await check(bench.path, { baseRef }))[0]?.base, baseRef).toBe(base);
    }
    await git(bench.path, 'tag', 'main');
    const wrong = [first, first.slice(0, 9), 'HEAD~1', 'main^', 'nothing', '-q', '--all', 'a b', '@', 'main'];
    for (const baseRef of wrong) expect(await reasonOf(bench.path, { baseRef }), baseRef).toEqual(refused('base'));
    const [record] = await bench.allocate(['fix'], { baseRef: 'v1' });
    expect(record?.base).toBe(first);
  });

  it('run-121 the place is beside the repository, or as configured, and never inside it', async () => {
    const place = async (wanted?: string, options = {}) =>
      (await check(bench.path, { folder: wanted, ...options }))[0]?.place;
    expect(await place()).toBe(at('repo.worktrees'));
    expect(await place('../trees')).toBe(at('trees', 'repo'));
    expect(await place(at('trees'))).toBe(at('trees', 'repo'));
    expect(await place('~/trees')).toBe(join(await realpath(homedir()), 'trees', 'repo'));
    for (const wanted of ['.', 'trees', '.git/trees', at('repo'), at('repo', 'src')]) {
      expect(await reasonOf(bench.path, { folder: wanted }), wanted).toEqual(refused('inside-checkout'));
    }
    // Beside it a folder of its name is the repository itself.
    expect(await reasonOf(bench.path, { folder: '..' })).toEqual(refused('inside-checkout'));
    await mkdir(at('agent', 'extensions'), { recursive: true });
    const options = { refused: [at('agent', 'extensions')] };
    expect(await reasonOf(bench.path, { folder: at('agent', 'extensions', 'x'), ...options })).toEqual(
      refused('inside-extensions'),
    );
    await symlink(at('agent', 'extensions'), at('link'));
    expect(await reasonOf(bench.path, { folder: at('link', 'x'), ...options })).toEqual(refused('inside-extensions'));
    expect(await place(at('agent', 'other'), options)).toBe(at('agent', 'other', 'repo'));
  });

  it.runIf(posix)('a place that cannot be written is refused, with the way out', async () => {
    await writeFile(at('file'), '');
    expect(await reasonOf(bench.path, { folder: at('file', 'x') })).toEqual(refused('unwritable'));
    // No user may make folders there.
    const failing = bench.one({ folder: '/proc/trees' });
    await expect(failing).rejects.toMatchObject({
      code: 'worktree_refused',
      hint: expect.stringMatching(/choose another one/),
    });
    expect(bench.told).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)(
    'one that only somebody else may write to is refused by name, and nothing is made',
    async () => {
      // As somebody who is not root, to whom every folder is open.
      const nobody = { uid: 65534, gid: 65534 };
      for (const path of [bench.path, bench.store]) await promisify(execFile)('chown', ['-R', '65534:65534', path]);
      await chmod(folder.path, 0o755);
      const script = join(import.meta.dirname, '..', 'support', 'allocate-many.ts');
      const allocate = () =>
        promisify(execFile)(process.execPath, [script, bench.path, bench.store, RUN, '1'], {
          ...nobody,
          env: { ...process.env, HOME: bench.store },
        });
      const list = () =>
        promisify(execFile)('git', ['worktree', 'list'], { ...nobody, cwd: bench.path, env: process.env });
      const before = await list();
      await expect(allocate()).rejects.toMatchObject({
        stderr: expect.stringMatching(/No worktree can be made in .*repo\.worktrees: .*EACCES/),
      });
      expect(await list()).toEqual(before);
      expect(await readdir(folder.path)).not.toContain('repo.worktrees');
      await chmod(folder.path, 0o777);
      const { stdout } = await allocate();
      expect(JSON.parse(stdout)).toMatchObject([{ path: at('repo.worktrees', 'many-099a8057-1') }]);
    },
  );
});

describe('a worktree', () => {
  it('is planned before git is asked, and told of as made', async () => {
    const before = await stateOf(bench.path);
    const record = await bench.one();
    const { base } = record;
    expect(record).toEqual({
      version: 1,
      runId: RUN,
      child: 1,
      repository: at('repo', '.git'),
      root: bench.path,
      path: at('repo.worktrees', 'fix-099a8057-1'),
      folder: at('repo.worktrees', 'fix-099a8057-1'),
      branch: 'pi-lanes/fix-099a8057-1',
      base: await git(bench.path, 'rev-parse', 'HEAD'),
      gitFolder: at('repo', '.git', 'worktrees', 'fix-099a8057-1'),
      madeAt: expect.any(Number),
      synthetic: [],
      warnings: [],
    });
    const { gitFolder: _, madeAt: __, synthetic: ___, warnings: ____, ...plan } = record;
    expect(bench.told).toEqual([{ planned: plan }, { made: record }]);
    expect(await readFile(join(record.path, 'src', 'b.txt'), 'utf8')).toBe('two\n');
    expect(await stateOf(bench.path)).toEqual([
      ...before.slice(0, 1),
      `refs/heads/${record.branch} ${base}`,
      ...before.slice(1),
      `worktree ${record.path}`,
      `HEAD ${base}`,
      `branch refs/heads/${record.branch}`,
    ]);
    expect(await git(bench.path, 'config', '--get-regexp', '^branch\\.').catch(() => 'none')).toBe('none');
    expect(await identityFault(record)).toBeUndefined();
  });

  it('run-120 keeps the subfolder it was asked for in, also one that no commit has', async () => {
    await mkdir(join(bench.path, 'src', 'пусто'));
    const [inside] = await bench.allocate(['one'], { cwd: join(bench.path, 'src') });
    expect(inside?.folder).toBe(join(inside?.path ?? '', 'src'));
    const [empty] = await bench.allocate(['two'], { cwd: join(bench.path, 'src', 'пусто') });
    expect(await readdir(empty?.folder ?? '')).toEqual([]);
    expect(await git(empty?.path ?? '', 'status', '--porcelain')).toBe('');
  });

  it.runIf(posix)('is the same from a root that is a link', async () => {
    await symlink(bench.path, at('way'));
    const record = await bench.one({ cwd: at('way', 'src') });
    expect(record).toMatchObject({ root: bench.path, path: at('repo.worktrees', 'fix-099a8057-1') });
    expect(record.folder).toBe(join(record.path, 'src'));
  });

  it('of a worktree lies flat beside the main checkout', async () => {
    const outer = await bench.one();
    const inner = await bench.one({ cwd: join(outer.path, 'src') });
    expect(dirname(inner.path)).toBe(dirname(outer.path));
    expect(inner).toMatchObject({ root: outer.path, repository: outer.repository, branch: `${outer.branch}-2` });
  });

  it('of a submodule lies outside of the checkout around it', async () => {
    await makeRepository(at('lib'));
    await git(bench.path, 'submodule', '--quiet', 'add', at('lib'), 'vendor/lib');
    await commitAll(bench.path, 'submodule');
    const record = await bench.one({ cwd: join(bench.path, 'vendor', 'lib', 'src') });
    expect(record.path).toBe(at('repo.worktrees', 'fix-099a8057-1'));
    expect(record.folder).toBe(join(record.path, 'src'));
    expect(await git(record.path, 'rev-parse', 'HEAD')).toBe(record.base);
    expect(await git(bench.path, 'status', '--porcelain')).toBe('');
    expect(await readdir(join(record.folder))).toEqual(['b.txt']);
  });

  it('starts from a detached HEAD, from a checkout of a bare repository, and from one whose git folder lies elsewhere', async () => {
    await git(folder.path, 'clone', '--quiet', '--bare', bench.path, at('bare ü.git'));
    await git(at('bare ü.git'), 'worktree', 'add', '--quiet', '--detach', at('checkout'));
    expect((await bench.one({ cwd: at('checkout') })).path).toBe(at('bare ü.worktrees', 'fix-099a8057-1'));
    await git(folder.path, 'clone', '--quiet', `--separate-git-dir=${at('elsewhere')}`, bench.path, at('apart'));
    expect((await bench.one({ cwd: at('apart') })).path).toBe(at('apart.worktrees', 'fix-099a8057-1'));
    await git(bench.path, 'checkout', '--quiet', '--detach');
    expect((await bench.one()).base).toBe(await git(bench.path, 'rev-parse', 'HEAD'));
  });

  it('B91 can be made of a repository with any name, with any names in it', async () => {
    const names = ['файл ü.txt', '"quoted" \'both\'.txt', `${'long'.repeat(40)}/${'name'.repeat(40)}`];
    const path = at(posix ? '目录 with\nbreak "and" quotes' : '目录 with space');
    const odd = await Bench.make(
      path,
      at('store'),
      Object.fromEntries([...names, ...(posix ? ['line\nbreak'] : [])].map((name) => [name, name])),
    );
    const record = await odd.one();
    expect(record.path.startsWith(`${path}.worktrees`)).toBe(true);
    for (const name of names) expect(await readFile(join(record.path, name), 'utf8')).toBe(name);
    expect(await identityFault(record)).toBeUndefined();
  });

  it('keeps what is out of a sparse checkout out', async () => {
    await write(bench.path, { 'big/c.txt': 'three' });
    await commitAll(bench.path, 'big');
    await git(bench.path, 'sparse-checkout', 'set', 'src');
    const record = await bench.one();
    expect(await git(record.path, 'status', '--porcelain')).toBe('');
    expect(existsSync(join(record.path, 'src', 'b.txt'))).toBe(true);
  });

  it('of a repository with LFS pointers has the pointers when LFS is not there', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12\n`;
    await write(bench.path, { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'a.bin': pointer });
    await commitAll(bench.path, 'lfs');
    const record = await bench.one();
    expect(await readFile(join(record.path, 'a.bin'), 'utf8')).toBe(pointer);
  });
});

describe('names', () => {
  const name = (label: string, taken: string[] = []) => nameWorktree({ label, runId: RUN, child: 3 }, taken);

  it('say what the child is called, in letters every system takes', () => {
    expect(name('Fix the Größe / of "x"').branch).toBe('pi-lanes/Fix-the-Gro-e-of-x-099a8057-3');
    expect(name('漢字').leaf).toBe('child-099a8057-3');
    expect(name('..lock').leaf).toBe('lock-099a8057-3');
    expect(name('x'.repeat(300)).leaf).toHaveLength(32 + 11);
    expect(name('a.lock').branch).toMatch(/^pi-lanes\/a-lock-/);
  });

  it('are unlike those there are, also where upper and lower case are one', () => {
    expect(name('fix', ['PI-LANES/FIX-099A8057-3', 'main']).branch).toBe('pi-lanes/fix-099a8057-3-2');
    expect(name('fix', ['pi-lanes/fix-099a8057-3/deeper']).branch).toBe('pi-lanes/fix-099a8057-3-2');
    expect(name('fix', ['Pi-Lanes']).branch).toBe('pi-lanes-fix-099a8057-3');
    expect(
      nameWorktree({ label: 'fix', runId: RUN, child: 1 }, [], `${'p'.repeat(300)}/`).branch.length,
    ).toBeLessThanOrEqual(256);
  });

  it('do not collide with branches, folders and cases that are there', async () => {
    await git(bench.path, 'branch', 'PI-LANES/FIX-099a8057-1');
    await write(at('repo.worktrees', 'fix-099a8057-1-2'), { mine: 'x' });
    expect(await bench.one()).toMatchObject({ branch: `${BRANCH_PREFIX}fix-099a8057-1-3` });
    expect(await readFile(at('repo.worktrees', 'fix-099a8057-1-2', 'mine'), 'utf8')).toBe('x');
    // Of a worktree whose folder is gone, or on a disk that is not there, git still has the path.
    await git(bench.path, 'worktree', 'add', '--quiet', '-b', 'mine', at('repo.worktrees', 'fix-099a8057-1'));
    await rm(at('repo.worktrees', 'fix-099a8057-1'), { recursive: true });
    await git(bench.path, 'branch', '-D', 'PI-LANES/FIX-099a8057-1');
    expect(await bench.one()).toMatchObject({ branch: `${BRANCH_PREFIX}fix-099a8057-1-4` });
    const listed = await git(bench.path, 'worktree', 'list', '--porcelain');
    expect(listed.split('\n')).toContain(`worktree ${at('repo.worktrees', 'fix-099a8057-1')}`);
    const other = await Bench.make(at('blocked'), at('store'));
    await git(other.path, 'branch', 'pi-lanes');
    expect(await other.one()).toMatchObject({ branch: 'pi-lanes-fix-099a8057-1' });
  });
});

describe('a folder deleted by hand', () => {
  it('whose branch is gone too, and an empty one, are in nobody’s way and stay as they are', async () => {
    const lost = await bench.one();
    await git(lost.path, 'checkout', '--quiet', '-b', 'own');
    await git(bench.path, 'branch', '--quiet', '-D', lost.branch);
    await rm(lost.path, { recursive: true });
    await mkdir(`${lost.path}-2`, { recursive: true });
    const record = await bench.one();
    expect(record.path).toBe(`${lost.path}-3`);
    expect(await readdir(`${lost.path}-2`)).toEqual([]);
    const state = await stateOf(bench.path);
    expect(state).toContain(`worktree ${lost.path}`);
    expect(state.filter((line) => line.startsWith(`refs/heads/${BRANCH_PREFIX}`))).toEqual([
      `refs/heads/${record.branch} ${record.base}`,
    ]);
  });
});

describe('the recorded worktree', () => {
  it('B06 is told from any other at its path', async () => {
    const record = await bench.one();
    expect(await identityFault(record)).toBeUndefined();
    expect(await identityFault({ ...record, gitFolder: `${record.gitFolder}2` })).toMatchObject({
      text: 'worktree_lost:other',
    });
    await rm(join(record.path, '.git'));
    expect(await identityFault(record)).toMatchObject({ text: 'worktree_lost' });
    await rm(record.path, { recursive: true });
    expect(await identityFault(record)).toMatchObject({ text: 'worktree_lost' });
    // Inside of another repository, at its path, with a `.git` of its own.
    await makeRepository(record.path);
    expect(await identityFault(record)).toMatchObject({ text: 'worktree_lost' });
  });
});
