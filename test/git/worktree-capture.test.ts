/** What a worktree holds is kept, all of it, and proven; what cannot be kept is said. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KeptCapture } from '../../src/core/worktrees/index.ts';
import type { WorktreeRecord } from '../../src/protocol/index.ts';
import { commitAll, git, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { Bench } from '../support/worktrees.ts';

const posix = process.platform !== 'win32';
let folder: TempDir;
let bench: Bench;
let tree: WorktreeRecord;
const at = (...parts: string[]) => join(folder.path, ...parts);
const inTree = (...parts: string[]) => join(tree.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  await mkdir(at('store'));
  bench = await Bench.make(at('repo'), at('store'), {
    'a.txt': 'one\n',
    'src/b.txt': 'two\n',
    'moved.txt': 'a line\n'.repeat(20),
    'gone.txt': 'x',
    'run.sh': '#!/bin/sh\n',
    '.gitignore': 'build/\n*.log\nnode_modules\n',
  });
  tree = await bench.one();
});

afterEach(() => folder.remove());

/** The patch, applied by another git to a fresh checkout of the base, gives these files. */
async function applied(kept: KeptCapture): Promise<string> {
  const path = at(`applied ${Math.random()}`);
  await git(bench.path, 'worktree', 'add', '--quiet', '--detach', path, tree.base);
  if (kept.capture.patch)
    await git(path, 'apply', '--index', '--whitespace=nowarn', join(kept.folder, kept.capture.patch.path));
  return path;
}

const entries = (commit: string) => git(bench.path, 'ls-tree', '-r', commit);
const parentsOf = async (commit: string | undefined) =>
  (await git(bench.path, 'rev-list', '--parents', '--max-count=1', commit ?? '')).split(' ').slice(1);

describe('a capture', () => {
  it('of a worktree nothing was done in keeps nothing, and says so', async () => {
    const { capture, folder: path } = await bench.capture(tree);
    expect(capture).toEqual({
      version: 1,
      base: tree.base,
      tree: await git(bench.path, 'rev-parse', `${tree.base}^{tree}`),
      head: tree.base,
      branch: tree.branch,
      changed: false,
      commits: 0,
      tips: [],
      outside: { files: 0, bytes: 0, listed: [] },
      disposable: { files: 0, listed: [] },
      blockers: [],
    });
    expect((await readdir(path)).sort()).toEqual(
      ['capture.json', 'files', 'files.json'].slice(0, 1).concat('files.json'),
    );
  });

  it.runIf(posix)(
    'run-127 run-128 has committed, changed and new files, byte for byte, with modes, renames and links',
    async () => {
      const bytes = Buffer.from(Array.from({ length: 4096 }, (_, n) => (n * 7919) % 256));
      await write(tree.path, { 'committed.txt': 'in a commit\n' });
      await commitAll(tree.path, 'work');
      await rename(inTree('moved.txt'), inTree('src', 'перемещено.txt'));
      await rm(inTree('gone.txt'));
      await chmod(inTree('run.sh'), 0o755);
      await write(tree.path, {
        'a.txt': 'one\r\nmixed\nends\r',
        'binary.bin': bytes,
        'latin1.txt': Buffer.from([0x67, 0x72, 0xfc, 0xdf, 0x65, 10]),
        empty: '',
        link: { link: 'src/b.txt' },
        'dangling link': { link: '/nowhere at all' },
        'line\nbreak "and" \\quotes': 'odd',
        '-dash': 'x',
        'new/deep/file': 'x',
      });
      const kept = await bench.capture(tree);
      const { capture } = kept;
      expect(capture).toMatchObject({ changed: true, commits: 1, blockers: [], outside: { files: 0 } });
      // `gone.txt` has become `-dash` for git.
      expect(capture.patch?.files).toBe(12);
      const path = await applied(kept);
      expect(await git(path, 'write-tree')).toBe(capture.tree);
      expect(await readFile(join(path, 'binary.bin'))).toEqual(bytes);
      expect(await readFile(join(path, 'latin1.txt'))).toEqual(await readFile(inTree('latin1.txt')));
      expect(await readFile(join(path, 'line\nbreak "and" \\quotes'), 'utf8')).toBe('odd');
      expect(await readlink(join(path, 'dangling link'))).toBe('/nowhere at all');
      expect((await stat(join(path, 'run.sh'))).mode & 0o111).toBe(0o111);
      expect(await readFile(join(kept.folder, 'changes.patch'), 'latin1')).toMatch(/rename from moved\.txt/);
      expect(await entries(capture.kept?.commit ?? '')).toBe(await git(bench.path, 'ls-tree', '-r', capture.tree));
      // The worktree and what was staged in it are as they were.
      expect((await git(tree.path, 'status', '--porcelain')).split('\n')).toContain('?? empty');
    },
  );

  it.runIf(posix)('has names that are not UTF-8', async () => {
    const name = Buffer.concat([Buffer.from(`${tree.path}/name `), Buffer.from([0xff, 0xfe])]);
    await writeFile(name, 'bytes');
    await writeFile(Buffer.concat([name, Buffer.from('.log')]), 'ignored');
    const { capture, folder: path } = await bench.capture(tree);
    expect(capture).toMatchObject({ patch: { files: 1 }, blockers: [] });
    expect(capture.outside.listed).toMatchObject([{ bytes: 7, raw: expect.any(String) }]);
    const raw = Buffer.from(capture.outside.listed[0]?.raw ?? '', 'base64');
    expect(await readFile(Buffer.concat([Buffer.from(`${path}/files/`), raw]), 'utf8')).toBe('ignored');
  });

  it('does not depend on what the person has configured', async () => {
    const settings = {
      'diff.noprefix': 'true',
      'diff.mnemonicPrefix': 'true',
      'diff.external': 'false',
      'diff.renames': 'false',
      'diff.context': '0',
      'color.ui': 'always',
      'core.quotePath': 'true',
      'apply.whitespace': 'fix',
      'status.showUntrackedFiles': 'no',
      'commit.gpgSign': 'true',
      'core.abbrev': '4',
    };
    for (const [name, value] of Object.entries(settings)) await git(bench.path, 'config', name, value);
    await write(tree.path, { 'a.txt': 'trailing space \n\n\n', 'ü.txt': 'x  \n' });
    const kept = await bench.capture(tree);
    expect(kept.capture).toMatchObject({ blockers: [], patch: { files: 2, insertions: 4, deletions: 1 } });
    expect(await git(await applied(kept), 'write-tree')).toBe(kept.capture.tree);
  });

  it('B03 B10 has what git ignores, with size and mode, unless it can be made again', async () => {
    await write(tree.path, {
      'build/out.txt': 'result of an hour',
      'build/deep/tool': { content: '#!/bin/sh\n', mode: 0o755 },
      'build/link': { link: '../a.txt' },
      'debug.log': 'log',
      'node_modules/left-pad/index.js': 'x',
      'src/node_modules/y': 'y',
      'new.txt': 'new',
    });
    const { capture, folder: path } = await bench.capture(tree);
    expect(capture.outside).toMatchObject({
      files: 4,
      bytes: 17 + 10 + 8 + 3,
      listed: [
        { path: 'build/deep/tool', kind: 'file', bytes: 10 },
        { path: 'build/link', kind: 'link' },
        { path: 'build/out.txt', bytes: 17 },
        { path: 'debug.log', bytes: 3 },
      ],
    });
    expect(capture.disposable).toEqual({ files: 2, listed: expect.arrayContaining(['src/node_modules/y']) });
    expect(await readFile(join(path, 'files', 'build', 'out.txt'), 'utf8')).toBe('result of an hour');
    expect(await readlink(join(path, 'files', 'build', 'link'))).toBe('../a.txt');
    if (posix) expect((await stat(join(path, 'files', 'build', 'deep', 'tool'))).mode & 0o777).toBe(0o755);
    expect(existsSync(join(path, 'files', 'node_modules'))).toBe(false);
    const more = await bench.capture(tree, { disposable: ['build/', '*.log'] });
    expect(more.capture.outside.listed.map((file) => file.path).sort()).toEqual([
      'node_modules/left-pad/index.js',
      'src/node_modules/y',
    ]);
  });

  it('of more than may be copied says so, and the worktree stays', async () => {
    await write(tree.path, { 'build/big': Buffer.alloc(2_000_000) });
    const kept = await bench.capture(tree, { maxOutsideBytes: 1_000_000 });
    expect(kept.capture.blockers).toMatchObject([
      { text: 'worktree_preserved:outside', params: { files: 1, megabytes: 2 } },
    ]);
    expect(await bench.remove(tree, kept)).toMatchObject({ worktreeRemoved: false });
  });

  it('sees a change of the same length in the second of the commit before it', async () => {
    const second = () => Math.floor(Date.now() / 1000);
    let began: number;
    do {
      await waitFor('the next second', () => Date.now() % 1000 < 200);
      began = second();
      await write(tree.path, { 'a.txt': 'abc' });
      await commitAll(tree.path, 'abc');
      await write(tree.path, { 'a.txt': 'xyz' });
    } while (second() !== began);
    await waitFor('a later second', () => second() > began + 1);
    const { capture } = await bench.capture(tree);
    expect(await git(bench.path, 'show', `${capture.tree}:a.txt`)).toBe('xyz');
  });

  it('sees what the child has hidden from git', async () => {
    await git(tree.path, 'update-index', '--assume-unchanged', 'a.txt');
    await git(tree.path, 'update-index', '--skip-worktree', 'src/b.txt', 'gone.txt');
    await write(tree.path, { 'a.txt': 'hidden one\n', 'src/b.txt': 'hidden two\n' });
    await rm(inTree('gone.txt'));
    expect(await git(tree.path, 'status', '--porcelain')).toBe('');
    const kept = await bench.capture(tree);
    expect(kept.capture.patch?.files).toBe(3);
    const path = await applied(kept);
    expect(await readFile(join(path, 'src', 'b.txt'), 'utf8')).toBe('hidden two\n');
    expect(existsSync(join(path, 'gone.txt'))).toBe(false);
    expect((await git(tree.path, 'ls-files', '-v')).split('\n')).toContain('S src/b.txt');
  });

  it('of a sparse checkout takes what is not there for unchanged', async () => {
    await git(tree.path, 'sparse-checkout', 'set', 'src');
    expect(existsSync(inTree('src', 'b.txt'))).toBe(true);
    await write(tree.path, { 'src/new.txt': 'new', 'outside/new.txt': 'beyond' });
    const kept = await bench.capture(tree);
    expect(kept.capture.blockers).toEqual([]);
    const names = (await git(bench.path, 'ls-tree', '-r', '--name-only', kept.capture.tree)).split('\n');
    expect(names).toEqual(expect.arrayContaining(['src/new.txt', 'outside/new.txt', 'a.txt', 'gone.txt']));
    expect(names).toHaveLength(8);
  });

  it('has the bytes of files that filters of git change', async () => {
    await write(tree.path, {
      '.gitattributes': '*.txt text\n*.nb filter=strip\n',
      'new.txt': 'mixed\r\nends\n',
      'x.nb': 'keep SECRET',
    });
    await git(bench.path, 'config', 'filter.strip.clean', "sed 's/SECRET//'");
    const { capture, folder: path } = await bench.capture(tree);
    expect(capture.outside.listed.map(({ path: name, kind }) => [name, kind])).toEqual([
      ['new.txt', 'filtered'],
      ['x.nb', 'filtered'],
    ]);
    expect(await readFile(join(path, 'files', 'x.nb'), 'utf8')).toBe('keep SECRET');
    expect(await readFile(join(path, 'files', 'new.txt'), 'utf8')).toBe('mixed\r\nends\n');
  });

  it('run-129 that fails keeps nothing and says why; the worktree is as it was', async () => {
    await write(tree.path, { '.gitattributes': '*.bin filter=lfs\n', 'big.bin': 'x' });
    await git(bench.path, 'config', 'filter.lfs.required', 'true');
    await git(bench.path, 'config', 'filter.lfs.clean', 'no-such-program-here');
    await expect(bench.capture(tree)).rejects.toMatchObject({
      code: 'git_failed',
      message: expect.stringMatching(/filter/),
    });
    expect(await readdir(bench.capturesOf(tree))).toEqual([]);
    expect(await readFile(inTree('big.bin'), 'utf8')).toBe('x');
    await rm(inTree('.git'));
    await expect(bench.capture(tree)).rejects.toMatchObject({ code: 'worktree_lost' });
  });

  it('made again gives the same one; after more work there are both, and the ref keeps both', async () => {
    await write(tree.path, { 'new.txt': '1', 'debug.log': '1' });
    const first = await bench.capture(tree);
    await mkdir(`${first.folder.slice(0, -1)}2.new`);
    expect(await bench.capture(tree)).toEqual(first);
    expect(await readdir(bench.capturesOf(tree))).toEqual(['capture-1']);
    await write(tree.path, { 'new.txt': '2' });
    const second = await bench.capture(tree);
    expect(second.folder).toMatch(/capture-2$/);
    expect(await parentsOf(second.capture.kept?.commit)).toContain(first.capture.kept?.commit);
    expect(await bench.capture(tree)).toEqual(second);
    // One that is damaged is not taken for whole.
    await writeFile(join(second.folder, 'changes.patch'), 'damaged');
    expect((await bench.capture(tree)).folder).toMatch(/capture-3$/);
    expect(await readFile(join(first.folder, 'files', 'debug.log'), 'utf8')).toBe('1');
  });
});
