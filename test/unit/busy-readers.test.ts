/** Readers of a run that is being written all the time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { JournalTail } from '../../src/core/journal/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import { inspectFinalStatus, RunReader } from '../../src/core/runs/index.ts';
import { tempDir } from '../support/temp.ts';
import { writeRun } from './builders/run.ts';

const ROUNDS = 150;
const EVENTS = ROUNDS * 20;

it('run-21 never see half a record or half a status', { timeout: 60_000 }, async () => {
  await using folder = await tempDir();
  const { directory } = await writeRun(folder.path, {});
  const worker = join(import.meta.dirname, 'workers', 'busy-writer.ts');
  const writer = spawn(process.execPath, [worker, directory, String(ROUNDS)], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  writer.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const exit = once(writer, 'exit');
  const follower = await RunReader.open(directory);
  let looks = 0;
  let between = 0;
  do {
    const before = follower.view.seq;
    const { seq } = await follower.refresh();
    expect(seq).toBeGreaterThanOrEqual(before);
    if (seq > 0 && seq < EVENTS) between++;
    // One who only comes now reads the same.
    const late = new JournalTail(runLayout(directory).journal);
    expect((await late.read()).length).toBeGreaterThanOrEqual(seq);
    expect(late.position().skipped).toEqual([]);
    const status = await inspectFinalStatus(directory);
    expect(status.error).toBeUndefined();
    if (looks > 0 && seq > 0 && status.view) expect(status.view.seq % 20).toBe(0);
    looks++;
  } while (writer.exitCode === null);
  await exit;
  expect([writer.exitCode, errors]).toEqual([0, '']);
  expect((await follower.refresh()).seq).toBe(EVENTS);
  expect(follower.skipped).toEqual([]);
  expect((await inspectFinalStatus(directory)).view?.seq).toBe(EVENTS);
  // It was really read while it was written.
  expect(between).toBeGreaterThan(3);
});
