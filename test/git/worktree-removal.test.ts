/** A worktree is removed only when everything in it is kept, and then wholly, and nothing else. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keptRef, removeWorktree } from '../../src/core/worktrees/index.ts';
import type { WorktreeRecord } from '../../src/protocol/index.ts';
import { commitAll, git, makeRepository, stateOf, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { Bench } from '../support/worktrees.ts';

let folder: TempDir;
let bench: Bench;
let tree: WorktreeRecord;
let before: string[];
const at = (...parts: string[]) => join(folder.path, ...parts);
const inTree = (...parts: string[]) => join(tree.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  await mkdir(at('store'));
  bench = await Bench.make(at('repo'), at('store'), {
    'a.txt': 'one\n',
    'b.txt': 'two\n',
    '.gitignore': '*.log\nshared\n',
  });
  before = await stateOf(bench.path);
  tree = await bench.one();
});

afterEach(() => folder.remove());

const gone = { worktreeRemoved: true, branchRemoved: true, reasons: [] };
const withoutKept = (state: string[]) => state.filter((line) => !line.startsWith('refs/pi-lanes/kept/'));
const stays = (text: string) => ({
  worktreeRemoved: false,
  branchRemoved: false,
  reasons: [expect.objectContaining({ text: `worktree_preserved:${text}` })],
});

describe('what is kept', () => {
  it('goes when nothing was done, and leaves only the ref of what it was made from', async () => {
    expect(await bench.remove(tree, await bench.capture(tree))).toEqual(gone);
    expect(withoutKept(await stateOf(bench.path))).toEqual(before);
    expect(await git(bench.path, 'rev-parse', keptRef(tree))).toBe(tree.base);
    expect(existsSync(at('repo.worktrees'))).toBe(false);
  });

  it('leaves what it was made from, though the person has amended that and git has collected what nothing leads to', async () => {
    const kept = await bench.capture(tree);
    await git(bench.path, 'commit', '--quiet', '--amend', '--allow-empty', '-m', 'Another start');
    expect(await bench.remove(tree, kept)).toEqual(gone);
    await git(bench.path, 'reflog', 'expire', '--expire=now', '--all');
    await git(bench.path, 'gc', '--quiet', '--prune=now');
    expect(await git(bench.path, 'cat-file', '-t', tree.base)).toBe('commit');
  });

  it('goes after its content was kept; others stay', async () => {
    const other = await bench.one();
    await write(tree.path, { 'a.txt': 'changed', 'new ü.txt': 'new', 'debug.log': 'log' });
    await commitAll(tree.path, 'work');
    await write(tree.path, { 'b.txt': 'more', 'line\nbreak': 'x' });
    const kept = await bench.capture(tree);
    expect(await bench.remove(tree, kept)).toEqual(gone);
    expect(existsSync(tree.path)).toBe(false);
    expect(existsSync(other.path)).toBe(true);
    const commit = await git(bench.path, 'rev-parse', keptRef(tree));
    expect(commit).toBe(kept.capture.kept?.commit);
    expect(await git(bench.path, 'show', `${commit}:new ü.txt`)).toBe('new');
    expect(await readFile(join(kept.folder, 'files', 'debug.log'), 'utf8')).toBe('log');
    await git(bench.path, 'fsck', '--strict', '--no-dangling');
  });

  it('goes with hidden marks, a moved HEAD and what was put there besides the checkout', async () => {
    await git(tree.path, 'update-index', '--skip-worktree', 'a.txt');
    await git(tree.path, 'checkout', '--quiet', '-b', 'own');
    await write(tree.path, { 'a.txt': 'hidden', '.env': 'SECRET', 'deps/x': 'x' });
    const record = { ...tree, synthetic: [{ path: '.env' }, { path: 'deps' }] };
    const kept = await bench.capture(record);
    expect(kept.capture.patch?.files).toBe(1);
    expect(await bench.remove(record, kept)).toEqual(gone);
    expect(await git(bench.path, 'rev-parse', 'own')).toBe(tree.base);
  });

  it('B08 a folder outside that a link leads to is not followed', async () => {
    await write(at('shared'), { sentinel: 'alive', 'deep/sentinel': 'alive' });
    await symlink(at('shared'), inTree('shared'), 'junction');
    await symlink(at('shared'), inTree('linked'), 'junction');
    const record = { ...tree, synthetic: [{ path: 'linked', link: true }] };
    const kept = await bench.capture(record);
    expect(kept.capture.outside.listed).toMatchObject([{ path: 'shared', kind: 'link' }]);
    expect(kept.capture.changed).toBe(false);
    expect(await bench.remove(record, kept)).toEqual(gone);
    for (const path of ['sentinel', 'deep/sentinel']) expect(await readFile(at('shared', path), 'utf8')).toBe('alive');
  });

  it('a link of ours that became a folder is work like any other', async () => {
    const record = { ...tree, synthetic: [{ path: 'deps', link: true }] };
    await write(tree.path, { 'deps/new.txt': 'work' });
    expect((await bench.capture(record)).capture.patch?.files).toBe(1);
  });
});

describe('what is uncertain stays', () => {
  it('B01 whatever came after the capture, wherever it is', async () => {
    await write(tree.path, { 'new.txt': 'new', 'x.log': 'log' });
    const kept = await bench.capture(tree);
    const late: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      ['a file', () => write(tree.path, { late: 'x' }), () => rm(inTree('late'))],
      ['an ignored file', () => write(tree.path, { 'late.log': 'x' }), () => rm(inTree('late.log'))],
      ['an ignored change', () => write(tree.path, { 'x.log': 'LOG' }), () => write(tree.path, { 'x.log': 'log' })],
      [
        'something staged',
        async () => {
          await write(tree.path, { staged: 'x' });
          await git(tree.path, 'add', 'staged');
          await rm(inTree('staged'));
        },
        () => git(tree.path, 'reset', '--quiet'),
      ],
      ['a commit', () => commitAll(tree.path, 'late'), () => git(tree.path, 'reset', '--quiet', 'HEAD~1')],
    ];
    for (const [what, change, back] of late) {
      await change();
      expect(await bench.remove(tree, kept), what).toEqual(stays('changed'));
      expect(await readFile(inTree('new.txt'), 'utf8')).toBe('new');
      await back();
    }
    // The commit is in the reflog now, and in no capture.
    expect((await bench.remove(tree, kept)).worktreeRemoved).toBe(false);
    const fresh = await bench.capture(tree);
    expect(await bench.remove(tree, fresh)).toEqual(gone);
  });

  it('run-132 a locked worktree is not unlocked', async () => {
    await git(bench.path, 'worktree', 'lock', '--reason', 'mine', tree.path);
    const kept = await bench.capture(tree);
    expect(await bench.remove(tree, kept)).toEqual(stays('locked'));
    expect((await bench.remove(tree, kept)).reasons[0]?.hint).toContain('git worktree unlock');
    await git(bench.path, 'worktree', 'unlock', tree.path);
    expect(await bench.remove(tree, kept)).toEqual(gone);
  });

  it('when the ref, the patch or a copy is damaged', async () => {
    await write(tree.path, { 'new.txt': 'new', 'x.log': 'log' });
    const kept = await bench.capture(tree);
    const patch = await readFile(join(kept.folder, 'changes.patch'));
    await git(bench.path, 'update-ref', '-d', keptRef(tree));
    expect(await bench.remove(tree, kept)).toEqual(stays('ref'));
    await git(bench.path, 'update-ref', keptRef(tree), kept.capture.kept?.commit ?? '');
    await writeFile(join(kept.folder, 'changes.patch'), patch.subarray(1));
    expect(await bench.remove(tree, kept)).toEqual(stays('copy'));
    await writeFile(join(kept.folder, 'changes.patch'), patch);
    await rm(join(kept.folder, 'files', 'x.log'));
    expect(await bench.remove(tree, kept)).toEqual(stays('copy'));
    await writeFile(join(kept.folder, 'files', 'x.log'), 'log');
    expect(await bench.remove(tree, kept)).toEqual(gone);
  });

  it('when it is not the recorded one any more, also inside another repository', async () => {
    await makeRepository(folder.path);
    const kept = await bench.capture(tree);
    await rm(inTree('.git'));
    const removal = await bench.remove(tree, kept);
    expect(removal).toMatchObject({ worktreeRemoved: false, reasons: [{ text: 'worktree_preserved:failed' }] });
    expect((await readdir(tree.path)).sort()).toEqual(['.gitignore', 'a.txt', 'b.txt']);
    // Nothing was staged into the repository around it.
    expect(await git(folder.path, 'diff', '--cached', '--name-only')).toBe('');
  });

  it('a branch that moved on, or that somebody has checked out, stays', async () => {
    const kept = await bench.capture(tree);
    await git(tree.path, 'checkout', '--quiet', '--detach');
    const moved = await bench.capture(tree);
    await git(bench.path, 'worktree', 'add', '--quiet', at('mine'), tree.branch);
    expect(await bench.remove(tree, kept)).toEqual(stays('changed'));
    const removal = await bench.remove(tree, moved);
    expect(removal).toMatchObject({
      worktreeRemoved: true,
      branchRemoved: false,
      reasons: [{ code: 'worktree_left' }],
    });
    expect(await git(bench.path, 'rev-parse', tree.branch)).toBe(tree.base);
  });

  it('a branch of which git cannot tell where it stands is not said to be gone', async () => {
    const kept = await bench.capture(tree);
    const failing = at('git that cannot tell');
    const script = `case "$*" in *rev-parse*refs/heads/pi-lanes/*) echo "fatal: broken" >&2; exit 128;; esac`;
    await writeFile(failing, `#!/bin/sh\n${script}\nexec /usr/bin/env git "$@"\n`, { mode: 0o755 });
    const { git: by, lock } = await bench.withGit(failing);
    expect(await removeWorktree(tree, kept, { git: by, lock })).toMatchObject({
      worktreeRemoved: true,
      branchRemoved: false,
      reasons: [{ code: 'worktree_left', message: expect.stringContaining('broken') }],
    });
    expect(await git(bench.path, 'rev-parse', tree.branch)).toBe(tree.base);
  });

  it('and is as it was when git refuses in the end', async () => {
    await write(tree.path, { 'new.txt': 'new' });
    await git(tree.path, 'add', 'new.txt');
    await write(tree.path, { 'new.txt': 'newer' });
    const kept = await bench.capture(tree);
    const status = await git(tree.path, 'status', '--porcelain', '--branch');
    const refusing = at('refusing git');
    await writeFile(
      refusing,
      '#!/bin/sh\nfor a in "$@"; do case "$a" in remove) echo "fatal: busy" >&2; exit 128;; esac; done\nexec /usr/bin/env git "$@"\n',
      { mode: 0o755 },
    );
    const allocator = await bench.withGit(refusing);
    expect(await removeWorktree(tree, kept, { git: allocator.git, lock: bench.lock })).toMatchObject({
      worktreeRemoved: false,
      reasons: [{ text: 'worktree_preserved:failed', message: expect.stringContaining('busy') }],
    });
    expect(await git(tree.path, 'status', '--porcelain', '--branch')).toBe(status);
    expect(withoutKept(await stateOf(bench.path)).filter((line) => line.startsWith('worktree'))).toHaveLength(2);
    expect(await bench.remove(tree, kept)).toEqual(gone);
  });
});
