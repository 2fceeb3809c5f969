/** What stands in the place of a file: nothing of it may keep anybody waiting. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readResultText, TranscriptFollower } from '../../src/client/result.ts';
import { RunStore } from '../../src/client/run-store.ts';
import { NotAFile, openForAppending, readRegular } from '../../src/core/files/index.ts';
import { JournalWriter, readJournal, readJournalEnd } from '../../src/core/journal/index.ts';
import { childLayout, projectLayout, runLayout } from '../../src/core/projects/index.ts';
import { runnerLog, runnerLogTail } from '../../src/core/runs/index.ts';
import { readSessionFile } from '../../src/core/sessions/index.ts';
import { MirrorWriter } from '../../src/core/transcripts/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { oneOfEach } from './builders/events.ts';
import { ended, me, writeRun } from './builders/run.ts';

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
});
afterEach(() => folder.remove());

async function pipeAt(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await promisify(execFile)('mkfifo', [path]);
}

const posix = describe.skipIf(process.platform === 'win32');

posix('what is no file', () => {
  it('is named, to whoever reads and to whoever would write', async () => {
    const at = (name: string) => join(folder.path, name);
    await mkdir(at('folder'));
    await pipeAt(at('pipe'));
    const server = createServer().listen(at('socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    const kinds = [
      [at('folder'), 'a folder'],
      [at('pipe'), 'a pipe'],
      [at('socket'), 'a socket'],
      ['/dev/zero', 'a device'],
    ] as const;
    for (const [path, kind] of kinds) {
      for (const work of [readRegular, openForAppending]) {
        const refused = await work(path).catch((error: unknown) => error);
        expect(refused, path).toBeInstanceOf(NotAFile);
        expect(refused).toMatchObject({ code: 'EFTYPE', kind, message: `${path} is ${kind}, not a file` });
      }
    }
    server.close();
    await expect(readRegular(at('nothing'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('a file is read, made and appended to', async () => {
    const path = join(folder.path, 'file');
    for (const text of ['one', ' two']) {
      await using handle = await openForAppending(path);
      await handle.appendFile(text);
    }
    expect(await readRegular(path)).toBe('one two');
    expect(await readFile(path, 'utf8')).toBe('one two');
  });
});

posix('a pipe in a run folder', () => {
  it.each(['record', 'journal', 'status'] as const)(
    'in the place of its %s is named, and other runs are listed',
    async (name) => {
      const store = new RunStore(projectLayout(folder.path));
      const events = [oneOfEach['run.proceeded'], ...(name === 'status' ? [ended('complete')] : [])];
      const { runId, directory } = await writeRun(folder.path, { events, active: true });
      const other = await writeRun(folder.path, { events: [ended('complete')] });
      const path = runLayout(directory)[name];
      await pipeAt(path);
      const runs = await store.list(10);
      expect(runs.find((run) => run.runId === other.runId)?.state).toBe('complete');
      const seen = runs.find((run) => run.runId === runId);
      // What the status says stands in the journal too.
      if (name === 'status') expect(seen).toMatchObject({ state: 'complete', damage: expect.stringContaining(path) });
      else {
        expect(seen).toMatchObject({ state: 'unknown', error: { code: 'run_unreadable' } });
        expect(seen?.error?.message).toMatch(/is a pipe/);
        expect(seen?.error?.message).toContain(path);
      }
    },
  );

  it('in the place of its lease makes its state unknown', async () => {
    const { runId, directory } = await writeRun(folder.path, {
      events: [oneOfEach['run.proceeded']],
      lease: await me(),
    });
    await pipeAt(`${runLayout(directory).lease}.1`);
    expect((await new RunStore(projectLayout(folder.path)).read(runId)).state).toBe('unknown');
  });

  it('in the place of anything else is passed over, and nothing waits', async () => {
    const { directory } = await writeRun(folder.path, { events: [ended('complete')] });
    const child = childLayout(directory, 1);
    await mkdir(child.sessions, { recursive: true });
    const session = join(child.sessions, 's.jsonl');
    for (const path of [child.result, child.transcript, child.stderr, session, runnerLog(directory, 1)])
      await pipeAt(path);
    expect(await readResultText(directory, 1)).toBeUndefined();
    expect(await runnerLogTail(directory, 1)).toBe('');
    expect(await readSessionFile(session)).toMatchObject({ state: 'unsupported' });
    await expect(new TranscriptFollower(directory, 1).refresh()).rejects.toThrow(/is a pipe/);
    const mirror = new MirrorWriter(child.transcript);
    mirror.add({ type: 'note', t: 1, text: 'hello' });
    await mirror.close();
  });

  it('a journal that is one is neither read nor written', async () => {
    const path = join(folder.path, 'journal.jsonl');
    await pipeAt(path);
    const refused = { code: 'run_unreadable', message: expect.stringContaining('it is a pipe, not a journal') };
    for (const work of [readJournal, readJournalEnd, JournalWriter.open]) {
      await expect(work(path)).rejects.toMatchObject(refused);
    }
  });
});

it('a folder in the place of a file is named like that', async () => {
  const path = join(folder.path, 'run.json');
  await writeFile(join(folder.path, 'x'), '');
  await mkdir(path);
  await expect(readRegular(path)).rejects.toMatchObject({ code: 'EFTYPE', kind: 'a folder' });
});
