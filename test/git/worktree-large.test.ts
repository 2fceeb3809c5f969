/** Worktrees with much in them: everything is kept, and git is asked for many files at once. Full size in soak runs. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { captureWorktree } from '../../src/core/worktrees/index.ts';
import { refusedFiles } from '../support/refused-files.ts';
import { git } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { Bench } from '../support/worktrees.ts';

const SOAK = process.env['PI_LANES_SOAK'] !== undefined;
const FILES = SOAK ? 10_000 : 400;
const MEGABYTES = SOAK ? 300 : 8;
const LIMIT_MS = SOAK ? 600_000 : 60_000;

let folder: TempDir;
let bench: Bench;
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  await mkdir(at('store'));
  bench = await Bench.make(at('repo'), at('store'));
});

afterEach(() => folder.remove());

it(
  `${FILES} changed files are kept, and can go`,
  async () => {
    const tree = await bench.one();
    for (let n = 0; n < FILES; n++) {
      const path = join(tree.path, `dir ${n % 97}`);
      await mkdir(path, { recursive: true });
      await writeFile(join(path, `файл ${n}`), `content of ${n}\n`);
    }
    const kept = await bench.capture(tree);
    expect(kept.capture).toMatchObject({ patch: { files: FILES, insertions: FILES }, blockers: [] });
    expect((await bench.remove(tree, kept)).worktreeRemoved).toBe(true);
  },
  LIMIT_MS,
);

it(
  `a binary of ${MEGABYTES} MB comes back byte for byte`,
  async () => {
    const tree = await bench.one();
    const content = randomBytes(MEGABYTES * 1024 * 1024);
    await writeFile(join(tree.path, 'big.bin'), content);
    const kept = await bench.capture(tree);
    expect(kept.capture.blockers).toEqual([]);
    await git(bench.path, 'worktree', 'add', '--quiet', '--detach', at('applied'), tree.base);
    await git(at('applied'), 'apply', '--index', join(kept.folder, 'changes.patch'));
    expect((await readFile(join(at('applied'), 'big.bin'))).equals(content)).toBe(true);
  },
  LIMIT_MS,
);

it.runIf(process.platform !== 'win32')(
  'a disk that fills up while it is kept leaves nothing that looks whole',
  async () => {
    const tree = await bench.one();
    await writeFile(join(tree.path, 'new.txt'), 'new');
    const full = at('git on a full disk');
    const script =
      'for a in "$@"; do case "$a" in --patch) head -c 100 /dev/zero; echo "fatal: write error: No space left on device" >&2; exit 128;; esac; done';
    await writeFile(full, `#!/bin/sh\n${script}\nexec /usr/bin/env git "$@"\n`, { mode: 0o755 });
    const { git: failing } = await bench.withGit(full);
    const capture = captureWorktree(bench.capturesOf(tree), tree, { git: failing, lock: bench.lock });
    await expect(capture).rejects.toMatchObject({
      code: 'git_failed',
      message: expect.stringContaining('No space left'),
    });
    expect(await readdir(bench.capturesOf(tree))).toEqual([]);
    expect(existsSync(join(tree.path, 'new.txt'))).toBe(true);
    expect((await bench.capture(tree)).folder).toMatch(/capture-1$/);
  },
);

it.runIf(process.platform === 'linux')(
  'a disk that fills up while files are copied, or when the capture gets its name, is the same',
  async () => {
    const tree = await bench.one();
    await writeFile(join(tree.path, '.gitignore'), '*.log\n');
    await writeFile(join(tree.path, 'ignored.log'), 'log');
    const refused = await refusedFiles(folder.path);
    const script = join(import.meta.dirname, '..', 'support', 'capture-one.ts');
    await writeFile(at('record.json'), JSON.stringify(tree));
    const args = [script, bench.capturesOf(tree), join(bench.store, 'repository'), at('record.json')];
    for (const path of ['/files/ignored\\.log$', '/files\\.json', '/capture\\.json', '/capture-1$']) {
      await refused.refuse({ code: 'ENOSPC', path });
      await expect(promisify(execFile)(refused.node, args), path).rejects.toMatchObject({
        stderr: expect.stringContaining('ENOSPC'),
      });
      expect(await readdir(bench.capturesOf(tree)), path).toEqual([]);
      expect(await readFile(join(tree.path, 'ignored.log'), 'utf8')).toBe('log');
    }
    await refused.refuse();
    await promisify(execFile)(refused.node, args);
    const kept = await bench.capture(tree);
    expect(kept.folder).toMatch(/capture-1$/);
    expect(await bench.remove(tree, kept)).toMatchObject({ worktreeRemoved: true });
  },
);
