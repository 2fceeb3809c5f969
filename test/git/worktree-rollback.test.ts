/** Worktrees that could not be made: nothing of them is left, and what is not ours is not touched. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inspectLock } from '../../src/core/locks/index.ts';
import { type Allocator, settlePlan } from '../../src/core/worktrees/index.ts';
import { lanesError, type WorktreePlan } from '../../src/protocol/index.ts';
import { commitAll, git, stateOf, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { Bench } from '../support/worktrees.ts';

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

describe('what fails', () => {
  /** A git that does as told for `worktree add`, and is the real one for everything else. */
  async function gitThat(script: string): Promise<string> {
    const path = at('git that');
    const real = '/usr/bin/env git';
    await writeFile(
      path,
      `#!/bin/sh\nfor a in "$@"; do case "$a" in worktree) w=1;; add) [ "$w" ] && add=1;; esac; done\n` +
        `if [ "$add" ]; then\n${script}\nfi\nexec ${real} "$@"\n`,
    );
    await chmod(path, 0o755);
    return path;
  }

  const undone = () => bench.told.filter((one) => 'undone' in one);

  it.runIf(posix)('B15 leaves everything as it was when git gives up after making the branch', async () => {
    const before = await stateOf(bench.path);
    // As git does when the path turns out not to be empty: the branch is there, the worktree is not.
    const allocator = await bench.withGit(
      await gitThat(
        'git -C "$PWD" --version >/dev/null; /usr/bin/env git "$@" >/dev/null 2>&1; rm -rf "$(echo "$@" | sed "s/.*-- //; s/ [0-9a-f]*$//")"; echo "fatal: no space left" >&2; exit 128',
      ),
    );
    await expect(bench.one({ allocator })).rejects.toMatchObject({
      code: 'worktree_failed',
      message: expect.stringContaining('no space left'),
    });
    expect(await stateOf(bench.path)).toEqual(before);
    expect(existsSync(at('repo.worktrees'))).toBe(false);
    expect(undone()).toMatchObject([{ left: [] }]);
  });

  it('B15 leaves everything as it was when somebody is at the path or on the branch first', async () => {
    const before = await stateOf(bench.path);
    const [path, branch] = [at('repo.worktrees', 'fix-099a8057-1'), 'pi-lanes/fix-099a8057-1'];
    const { made, provisioned, undone: toldUndone } = bench.journal;
    // As late as can be: what git finds then was not there when it was planned. Of a full folder git makes the branch all the same.
    const whenPlanned = (come: () => Promise<unknown>): Allocator => ({
      git: bench.git,
      lock: bench.lock,
      journal: { planned: async () => void (await come()), made, provisioned, undone: toldUndone },
    });
    const full = whenPlanned(() => write(path, { mine: 'x' }));
    await expect(bench.one({ allocator: full })).rejects.toMatchObject({ code: 'worktree_failed' });
    expect(await stateOf(bench.path)).toEqual(before);
    expect(await readFile(join(path, 'mine'), 'utf8')).toBe('x');
    await rm(path, { recursive: true });
    const theirs = await commitAll(bench.path, 'of somebody else');
    await git(bench.path, 'reset', '--quiet', '--hard', 'HEAD~1');
    const taken = whenPlanned(() => git(bench.path, 'branch', branch, theirs));
    await expect(bench.one({ allocator: taken })).rejects.toMatchObject({ code: 'worktree_failed' });
    expect((await stateOf(bench.path)).toSorted()).toEqual([...before, `refs/heads/${branch} ${theirs}`].toSorted());
    expect(existsSync(path)).toBe(false);
  });

  it.runIf(posix)('B19 says of a path that is too long what helps, and leaves everything as it was', async () => {
    const before = await stateOf(bench.path);
    const allocator = await bench.withGit(
      await gitThat(
        '/usr/bin/env git "$@" >/dev/null 2>&1; echo "error: unable to create file x/y: Filename too long" >&2; for p in "$@"; do last="$prev"; prev="$p"; done; rm "$last/a.txt"; exit 128',
      ),
    );
    await expect(bench.one({ allocator })).rejects.toMatchObject({
      code: 'worktree_failed',
      message: expect.stringContaining('path in it is too long'),
      hint: expect.stringContaining('shorter folder'),
    });
    expect(await stateOf(bench.path)).toEqual(before);
    expect(existsSync(at('repo.worktrees'))).toBe(false);
  });

  it.runIf(posix)('run-124 takes back the others of its group, and nothing else', async () => {
    const kept = await bench.one();
    const before = await stateOf(bench.path);
    const count = at('count').replaceAll("'", "'\\''");
    const allocator = await bench.withGit(
      await gitThat(
        `echo x >> '${count}'; if [ "$(wc -l < '${count}')" -ge 3 ]; then echo "fatal: broken" >&2; exit 128; fi`,
      ),
    );
    await expect(bench.allocate(['one', 'two', 'three', 'four'], { allocator })).rejects.toMatchObject({
      code: 'worktree_failed',
      message: expect.stringMatching(
        /three-099a8057-3 could not be made: fatal: broken\. What there was of it was taken back\.$/,
      ),
    });
    expect(await stateOf(bench.path)).toEqual(before);
    expect(await readdir(at('repo.worktrees'))).toEqual([basename(kept.path)]);
    expect(undone().map((one) => 'undone' in one && basename(one.undone.path))).toEqual([
      'three-099a8057-3',
      'two-099a8057-2',
      'one-099a8057-1',
    ]);
  });

  it.runIf(posix)('is done again when another git had a lock', async () => {
    const count = at('count').replaceAll("'", "'\\''");
    const allocator = await bench.withGit(
      await gitThat(
        `echo x >> '${count}'; if [ "$(wc -l < '${count}')" -le 2 ]; then /usr/bin/env git "$@" >/dev/null 2>&1; ` +
          `echo "error: could not lock config file .git/config: File exists" >&2; for p in "$@"; do last="$prev"; prev="$p"; done; rm "$last/a.txt"; exit 255; fi`,
      ),
    );
    const record = await bench.one({ allocator });
    expect(await readFile(at('count'), 'utf8')).toBe('x\nx\nx\n');
    expect(await git(record.path, 'status', '--porcelain')).toBe('');
    expect(bench.told.map((one) => Object.keys(one)[0])).toEqual(['planned', 'made']);
  });

  it.runIf(posix)('only in a hook of the repository is a warning: all files are there', async () => {
    const hook = join(bench.path, '.git', 'hooks', 'post-checkout');
    await mkdir(dirname(hook), { recursive: true });
    await writeFile(hook, '#!/bin/sh\necho "no dependencies" >&2\nexit 7\n');
    await chmod(hook, 0o755);
    expect((await bench.one()).warnings).toMatchObject([
      { code: 'worktree_hook_failed', params: { reason: 'no dependencies' } },
    ]);
    const before = await stateOf(bench.path);
    // One that changes what was checked out has not left a worktree to start from.
    await writeFile(hook, '#!/bin/sh\necho "oh no" >&2\nrm a.txt\nexit 7\n');
    await expect(bench.one()).rejects.toMatchObject({
      code: 'worktree_failed',
      message: expect.stringContaining('oh no'),
    });
    expect(await stateOf(bench.path)).toEqual(before);
  });

  it.runIf(posix)('by being called off while a hook hangs is taken back', async () => {
    const hook = join(bench.path, '.git', 'hooks', 'post-checkout');
    await mkdir(dirname(hook), { recursive: true });
    await writeFile(hook, `#!/bin/sh\necho x > '${at('hook').replaceAll("'", "'\\''")}'\nsleep 600\n`);
    await chmod(hook, 0o755);
    const before = await stateOf(bench.path);
    const controller = new AbortController();
    const running = bench.allocate(['one', 'two'], { signal: controller.signal });
    const failed = expect(running).rejects.toThrow(/stopped|abort/i);
    while (!existsSync(at('hook'))) await new Promise((resolve) => setTimeout(resolve, 10));
    controller.abort();
    await failed;
    expect(await stateOf(bench.path)).toEqual(before);
  });

  it('in a git that cannot be proven to have ended leaves everything, and the repository locked', async () => {
    const unproven = lanesError('git_failed:unproven', { command: 'git worktree add' });
    const planned = async (plan: WorktreePlan) => {
      if (plan.child === 2) throw unproven;
      await bench.journal.planned(plan);
    };
    const allocator = { git: bench.git, lock: bench.lock, journal: { ...bench.journal, planned } };
    await expect(bench.allocate(['one', 'two'], { allocator })).rejects.toMatchObject({
      code: 'git_failed',
      message: expect.stringMatching(/could not be proven .*\n.*one-099a8057-1 could not be taken back/),
    });
    expect(await inspectLock(at('store', 'repository'))).toMatchObject({ state: 'held' });
    expect(existsSync(at('repo.worktrees', 'one-099a8057-1', 'a.txt'))).toBe(true);
  });

  it('in the journal is taken back too', async () => {
    const before = await stateOf(bench.path);
    const made = () => Promise.reject(new Error('disk full'));
    const allocator = { git: bench.git, lock: bench.lock, journal: { ...bench.journal, made } };
    await expect(bench.one({ allocator })).rejects.toThrow('disk full');
    expect(await stateOf(bench.path)).toEqual(before);
    expect(undone()).toHaveLength(1);
  });
});

describe('a plan without a fact', () => {
  const settle = async () => {
    const [told] = bench.told.splice(0);
    if (!told || !('planned' in told)) throw new Error('no plan');
    bench.told.length = 0;
    return { plan: told.planned, record: await settlePlan(bench, told.planned) };
  };

  it('is taken over when the worktree is there as planned', async () => {
    const record = await bench.one();
    const settled = await settle();
    expect(settled.record).toEqual({ ...record, madeAt: expect.any(Number) });
    expect(bench.told).toEqual([{ made: settled.record }]);
  });

  it('is taken back when nothing came of it, or only a part', async () => {
    const before = await stateOf(bench.path);
    const record = await bench.one();
    await rm(join(record.path, 'a.txt'));
    const settled = await settle();
    expect(settled.record).toBeUndefined();
    expect(await stateOf(bench.path)).toEqual(before);
    expect(bench.told).toEqual([{ undone: settled.plan, left: [] }]);
    expect(await settlePlan(bench, settled.plan)).toBeUndefined();
    expect(await stateOf(bench.path)).toEqual(before);
  });

  it('is taken back when the folder was deleted by hand, and its branch with it', async () => {
    const record = await bench.one();
    const other = await bench.one();
    await rm(other.path, { recursive: true });
    await rm(record.path, { recursive: true });
    expect((await settle()).record).toBeUndefined();
    // The other entry is somebody else's to decide about: nothing is pruned.
    expect(
      (await stateOf(bench.path)).filter((line) => line.includes(record.branch) && !line.includes(other.branch)),
    ).toEqual([]);
    expect(await stateOf(bench.path)).toContain(`worktree ${other.path}`);
  });

  it('leaves a branch that has moved on, and a worktree that is on another one, and says so', async () => {
    const record = await bench.one();
    const moved = await commitAll(record.path, 'work');
    const first = await settle();
    expect(first.record).toBeUndefined();
    expect(await git(bench.path, 'rev-parse', record.branch)).toBe(moved);
    expect(bench.told).toMatchObject([{ left: [{ code: 'worktree_left', params: { what: record.branch } }] }]);
    const second = await bench.one();
    await git(second.path, 'checkout', '--quiet', '-b', 'own');
    bench.told.splice(
      0,
      bench.told.findIndex((one) => 'planned' in one),
    );
    await settle();
    expect(existsSync(join(second.path, 'a.txt'))).toBe(true);
  });
});
