/** Many worktrees at once, from more than one process. */
import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { newRunId } from '../../src/core/runs/index.ts';
import { worktreeRecord } from '../../src/protocol/index.ts';
import { git, stateOf } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { Bench } from '../support/worktrees.ts';

let folder: TempDir;
let bench: Bench;
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  await mkdir(at('store'));
  bench = await Bench.make(at('repo'), at('store'));
});

afterEach(() => folder.remove());

describe('many at once', () => {
  it('B14 100 from two processes on a tracked branch all start, and no branch is without its worktree', async () => {
    const script = join(import.meta.dirname, '..', 'support', 'allocate-many.ts');
    await git(bench.path, 'clone', '--quiet', bench.path, at('clone'));
    await git(at('clone'), 'checkout', '--quiet', '-B', 'main', '--track', 'origin/main');
    const results = await Promise.all(
      [1, 2].map(async () => {
        const args = [script, at('clone'), at('store'), newRunId(), '50'];
        const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1024 ** 2 });
        return z.array(worktreeRecord).parse(JSON.parse(stdout));
      }),
    );
    const records = results.flat();
    expect(records).toHaveLength(100);
    for (const one of ['path', 'branch', 'gitFolder'] as const)
      expect(new Set(records.map((record) => record[one])).size).toBe(100);
    expect(await readdir(at('clone.worktrees'))).toHaveLength(100);
    const state = await stateOf(at('clone'));
    expect(state.filter((line) => line.startsWith('refs/heads/pi-lanes/'))).toHaveLength(100);
    expect(state.filter((line) => line.startsWith('branch refs/heads/pi-lanes/'))).toHaveLength(100);
    expect(
      await git(at('clone'), 'config', '--get-regexp', '^branch\\.').then((text) => text.split('\n')),
    ).toHaveLength(2);
    await git(at('clone'), 'fsck', '--strict');
  });

  it('captures and removals of worktrees of one repository do not get in each other’s way', async () => {
    const records = await bench.allocate(Array.from({ length: 8 }, (_, n) => `child ${n}`));
    await Promise.all(
      records.map(async (record) => {
        await git(record.path, 'commit', '--quiet', '--allow-empty', '-m', `work of ${record.child}`);
        const kept = await bench.capture(record);
        expect(await bench.remove(record, kept)).toEqual({ worktreeRemoved: true, branchRemoved: true, reasons: [] });
      }),
    );
    const state = await stateOf(bench.path);
    expect(state.filter((line) => line.startsWith('refs/pi-lanes/kept/'))).toHaveLength(8);
    expect(state.filter((line) => /pi-lanes\/child/.test(line))).toEqual([]);
    await git(bench.path, 'fsck', '--strict', '--full');
  });
});
