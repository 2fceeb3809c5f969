/**
 * At each call of git on the way from wish to removal the process dies before or after it, or git fails: nothing that was worked is
 * lost, and the next one puts everything in order.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { finishRemoval, type KeptCapture, keptRef, type Removal, settlePlan } from '../../src/core/worktrees/index.ts';
import type { WorktreePlan, WorktreeRecord } from '../../src/protocol/index.ts';
import { numbersFrom, printedSeed } from '../support/random-numbers.ts';
import { git, stateOf } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { Bench } from '../support/worktrees.ts';

const SOAK = process.env['PI_LANES_SOAK'] !== undefined;
/** Calls tried of each way, beside the last one; in soak runs all of them. */
const TRIED = 4;
const SCRIPT = join(import.meta.dirname, '..', 'support', 'worktree-life.ts');

interface Told {
  planned?: WorktreePlan;
  made?: WorktreeRecord;
  undone?: WorktreePlan;
  left?: unknown[];
  worked?: true;
  captured?: KeptCapture;
  removed?: Removal;
}

let folder: TempDir;
let bench: Bench;
let child = 0;
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  await mkdir(at('store'));
  bench = await Bench.make(at('repo'), at('store'), { 'a.txt': 'one\n', '.gitignore': '*.log\n' });
  child = 0;
});

afterEach(() => folder.remove());

/** What the git of the test does, and at which calls: some are made at the same time, so those that follow a death may be asked too. */
const WAYS = {
  'dies before it': { at: '-ge', what: 'die' },
  'dies after it': { at: '-ge', what: '/usr/bin/env git "$@" >/dev/null 2>&1; die' },
  'is told that it failed': { at: '-eq', what: 'echo "fatal: broken" >&2; exit 128' },
};
type Way = (typeof WAYS)[keyof typeof WAYS];

const quoted = (path: string) => `'${path.replaceAll("'", "'\\''")}'`;

/** Runs a whole life with a git that does something else at one call, and gives what its journal says and how many calls it made. */
async function live(call: number, way: Way): Promise<{ told: Told[]; calls: number; died: boolean }> {
  child++;
  const [file, count, journal] = [at(`git ${child}`), at(`count ${child}`), at(`journal ${child}`)];
  await writeFile(journal, '');
  const lines = [
    '#!/bin/sh',
    `die() { kill -9 "$(cat ${quoted(`${journal}.pid`)})"; exit 1; }`,
    `echo x >> ${quoted(count)}`,
    `if [ "$(wc -l < ${quoted(count)})" ${way.at} ${call} ]; then`,
    way.what,
    'fi',
    'exec /usr/bin/env git "$@"',
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  await chmod(file, 0o755);
  const args = [SCRIPT, bench.path, at('store'), file, String(child), journal];
  const died = await promisify(execFile)(process.execPath, args).then(
    () => false,
    (error: { signal?: string }) => error.signal === 'SIGKILL',
  );
  const told = (await readFile(journal, 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map((line): Told => JSON.parse(line));
  return { told, died, calls: (await readFile(count, 'utf8')).length / 2 };
}

const withoutKept = (state: string[]) => state.filter((line) => !line.startsWith('refs/pi-lanes/kept/'));
const last = <K extends keyof Told>(told: Told[], what: K): Told[K] => told.findLast((one) => what in one)?.[what];

/** The worktree a successor would go on with; `undefined` when there is none to go on with. */
async function settled(told: Told[]): Promise<WorktreeRecord | undefined> {
  const made = last(told, 'made');
  const plan = last(told, 'planned');
  if (last(told, 'undone')) {
    expect(last(told, 'left')).toEqual([]);
    return undefined;
  }
  return made ?? (plan && (await settlePlan(bench, plan)));
}

/** Everything that was worked is reachable and copied. */
async function expectKept(record: WorktreeRecord, kept: KeptCapture): Promise<void> {
  const commit = await git(bench.path, 'rev-parse', keptRef(record));
  expect(commit).toBe(kept.capture.kept?.commit);
  const files = { 'committed.txt': 'committed', 'a.txt': 'changed', 'new ü.txt': 'new' };
  for (const [path, content] of Object.entries(files))
    expect(await git(bench.path, 'show', `${commit}:${path}`)).toBe(content);
  expect(await readFile(join(kept.folder, 'files', 'debug.log'), 'utf8')).toBe('log');
  expect(await git(bench.path, 'log', '--format=%s', commit)).toMatch(/^work$/m);
}

describe.runIf(process.platform !== 'win32')('a life in which at some call of git the process', () => {
  it.each(Object.entries(WAYS))(
    '%s loses nothing, and can be gone on with',
    async (_way, way) => {
      const before = withoutKept(await stateOf(bench.path));
      const undisturbed = await live(0, WAYS['is told that it failed']);
      expect(last(undisturbed.told, 'removed')).toEqual({ worktreeRemoved: true, branchRemoved: true, reasons: [] });
      const { calls } = undisturbed;
      expect(calls).toBeGreaterThan(20);
      const random = numbersFrom(printedSeed());
      const tried = SOAK
        ? Array.from({ length: calls }, (_, n) => n + 1)
        : Array.from({ length: TRIED }, (_, n) => 1 + Math.floor(((n + random()) * calls) / TRIED));
      for (const call of tried) {
        const { told, died } = await live(call, way);
        const where = `call ${call} of ${calls}, behind ${JSON.stringify(told.map((one) => Object.keys(one)[0]))}`;
        expect(died, where).toBe(way.at === '-ge');
        const record = await settled(told);
        if (record && !existsSync(record.path)) {
          // It was on the way out: what git is still to forget is the branch, and what is in that is kept.
          const captured = last(told, 'captured');
          if (!captured) throw new Error(`gone, and never kept: ${where}`);
          await expectKept(record, captured);
          const options = { git: bench.git, lock: bench.lock };
          const finished = await finishRemoval(record, captured, options);
          expect(finished, where).toEqual({ worktreeRemoved: true, branchRemoved: true, reasons: [] });
        } else if (record) {
          const removed = last(told, 'removed');
          if (removed) expect(removed.worktreeRemoved, where).toBe(false);
          const kept = await bench.capture(record);
          if (last(told, 'worked')) await expectKept(record, kept);
          expect(kept.capture.blockers, where).toEqual([]);
          expect(await bench.remove(record, kept), where).toEqual({
            worktreeRemoved: true,
            branchRemoved: true,
            reasons: [],
          });
          const left = (await readdir(bench.capturesOf(record))).filter((name) => !/^capture-\d+$/.test(name));
          expect(left, where).toEqual([]);
        }
        expect(withoutKept(await stateOf(bench.path)), where).toEqual(before);
        await rm(at('repo.worktrees'), { recursive: true, force: true });
      }
      await git(bench.path, 'fsck', '--strict', '--no-dangling');
    },
    SOAK ? 1_800_000 : 240_000,
  );
});
