import { execFile } from 'node:child_process';
import { existsSync, readFileSync, type Stats } from 'node:fs';
import { appendFile, open, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  JournalTail,
  JournalWriter,
  journalLimit,
  MAX_JOURNAL_BYTES,
  MAX_LINE_BYTES,
  readJournal,
} from '../../src/core/journal/index.ts';
import { foldRun } from '../../src/core/runs/index.ts';
import { isProgress, type JournalEvent, type JournalLine } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { oneOfEach } from './builders/events.ts';
import { aRecord } from './builders/run.ts';

/** Pauses that have been asked for, each with its length and how to end it. */
const { pauses } = vi.hoisted(() => ({ pauses: [] as { ms: number; end: () => void }[] }));
vi.mock('node:timers/promises', async (importOriginal) => ({
  ...(await importOriginal<typeof import('node:timers/promises')>()),
  setTimeout: (ms: number) => new Promise<void>((end) => pauses.push({ ms, end })),
}));

/** The next pause, once it is asked for. */
function nextPause() {
  return vi.waitFor(() => {
    const pause = pauses.shift();
    if (!pause) throw new Error('nobody waits');
    return pause;
  });
}

let folder: TempDir;
let path: string;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  path = join(folder.path, 'journal.jsonl');
});

afterEach(async () => {
  vi.restoreAllMocks();
  await folder.remove();
});

const said = (text: string): JournalEvent => ({ type: 'child.stdout', child: 1, text });
const textsOf = (found: readonly JournalLine[]) =>
  found.map((line) => (line.type === 'child.stdout' ? line.text : line.type));
const lineOf = (seq: number, text: string) => JSON.stringify({ seq, t: 5, ...said(text) });

/** The class behind file handles, to look at its calls and to make it fail. */
async function handles() {
  const handle = await open(folder.path, 'r');
  const prototype: Pick<typeof handle, 'writev' | 'appendFile' | 'datasync' | 'sync'> & {
    write(buffer: Buffer, offset: number, length?: number): Promise<{ bytesWritten: number; buffer: Buffer }>;
  } = Object.getPrototypeOf(handle);
  await handle.close();
  return prototype;
}

describe('writing', () => {
  it('numbers events from 1, stamps them, and says so once they are in the file', async () => {
    const appended: JournalLine[] = [];
    const inFile: boolean[] = [];
    let now = 100;
    const journal = await JournalWriter.open(path, {
      now: () => now++,
      onAppended: (line) => {
        appended.push(line);
        inFile.push(readFileSync(path, 'utf8').includes(`"seq":${line.seq},`));
      },
    });
    await journal.append([said('a'), said('b')], { sync: true });
    await journal.append([{ type: 'run.proceeded' }], { sync: false });
    expect(journal.seq).toBe(3);
    await journal.close();
    const expected = [
      { seq: 1, t: 100, ...said('a') },
      { seq: 2, t: 100, ...said('b') },
      { seq: 3, t: 101, type: 'run.proceeded' },
    ];
    expect(
      (await readFile(path, 'utf8'))
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    ).toEqual(expected);
    expect(appended).toEqual(expected);
    expect(inFile).toEqual([true, true, true]);
    expect((await readJournal(path)).lines).toEqual(expected);
    if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('writes and syncs what waits together, in order', async () => {
    const prototype = await handles();
    const writes = [vi.spyOn(prototype, 'write'), vi.spyOn(prototype, 'writev'), vi.spyOn(prototype, 'appendFile')];
    const syncs = [vi.spyOn(prototype, 'datasync'), vi.spyOn(prototype, 'sync')];
    const calls = (spies: { mock: { calls: unknown[] } }[]) => spies.reduce((n, spy) => n + spy.mock.calls.length, 0);
    const journal = await JournalWriter.open(path);
    const acknowledged: number[] = [];
    const numbers = Array.from({ length: 300 }, (_, i) => i);
    await Promise.all(
      numbers.map(async (i) => {
        await journal.append([said(`${i}`)], { sync: true });
        acknowledged.push(i);
      }),
    );
    expect(acknowledged).toEqual(numbers);
    expect(calls(writes)).toBeLessThanOrEqual(3);
    expect(calls(syncs)).toBeGreaterThanOrEqual(1);
    expect(calls(syncs)).toBeLessThanOrEqual(3);
    const before = calls(syncs);
    await journal.append([said('progress')], { sync: false });
    expect(calls(syncs)).toBe(before);
    await journal.close();
    expect(textsOf((await readJournal(path)).lines)).toEqual([...numbers.map(String), 'progress']);
  });

  it('is synced before it says so', async () => {
    const prototype = await handles();
    const order: string[] = [];
    const datasync = prototype.datasync;
    vi.spyOn(prototype, 'datasync').mockImplementation(async function (this: typeof prototype) {
      await datasync.call(this);
      order.push('synced');
    });
    const journal = await JournalWriter.open(path, { onAppended: () => order.push('told') });
    await journal.append([said('a')], { sync: true });
    order.push('resolved');
    await journal.close();
    expect(order).toEqual(['synced', 'told', 'resolved']);
  });

  it('goes on with the next number after it was opened again', async () => {
    for (const text of ['a', 'b', 'c']) {
      const journal = await JournalWriter.open(path);
      await journal.append([said(text)], { sync: true });
      await journal.close();
    }
    const { lines, lastSeq } = await readJournal(path);
    expect(lines.map((line) => line.seq)).toEqual([1, 2, 3]);
    expect(lastSeq).toBe(3);
  });

  it('goes on behind the number of an event it does not know', async () => {
    await writeFile(path, `${lineOf(1, 'a')}\n{"seq":7,"t":1,"type":"child.teleported"}\n`);
    const journal = await JournalWriter.open(path);
    await journal.append([said('b')], { sync: true });
    await journal.close();
    expect((await readJournal(path)).lines.map((line) => line.seq)).toEqual([1, 8]);
  });

  it('closes a torn last line, so that the next event stands alone', async () => {
    const torn = lineOf(2, 'torn').slice(0, 20);
    await writeFile(path, `${lineOf(1, 'a')}\n${torn}`);
    const journal = await JournalWriter.open(path);
    await journal.append([said('b')], { sync: true });
    await journal.close();
    const content = await readJournal(path);
    expect(textsOf(content.lines)).toEqual(['a', 'b']);
    expect(content.skipped).toEqual([{ offset: lineOf(1, 'a').length + 1, length: 20, problem: 'not-json' }]);
    expect(content.unfinishedBytes).toBe(0);
  });

  it('takes a line of exactly 64 KiB and refuses a longer one without a trace', async () => {
    const journal = await JournalWriter.open(path, { now: () => 5 });
    const empty = lineOf(1, '').length + 1;
    await journal.append([said('x'.repeat(MAX_LINE_BYTES - empty))], { sync: true });
    expect((await stat(path)).size).toBe(64 * 1024);
    // A rejection, never a throw: callers that do not wait would die of one.
    const refused = journal.append([said('kept out'), said('x'.repeat(MAX_LINE_BYTES - empty + 1))], { sync: true });
    await expect(refused).rejects.toThrow(/child\.stdout has 65537 bytes; the limit is 65536/);
    await journal.append([said('next')], { sync: true });
    await journal.close();
    const content = await readJournal(path);
    expect(content.lines.map((line) => line.seq)).toEqual([1, 2]);
    expect(textsOf(content.lines)[1]).toBe('next');
    expect(content.skipped).toEqual([]);
  });

  describe('run-25 a journal at its limit', () => {
    const progress = (turns: number): JournalEvent => ({ ...oneOfEach['child.progress'], turns });
    const LIMIT = 4096;

    it('holds no more progress and one line that says so, and everything else', async () => {
      const told: JournalLine[] = [];
      const journal = await JournalWriter.open(path, { maxBytes: LIMIT, onAppended: (line) => told.push(line) });
      const facts: JournalEvent[] = Object.values(oneOfEach).filter(
        ({ type }) => !isProgress(type) && type !== 'journal.truncated',
      );
      for (let turns = 1; turns <= 50; turns++) await journal.append([progress(turns), said('noise')], { sync: false });
      const full = (await stat(path)).size;
      expect(full).toBeLessThanOrEqual(LIMIT);
      expect(full).toBeGreaterThan(LIMIT - 1024);
      // What decides the run has room of its own, in one step with progress or alone, many times over the limit.
      for (let times = 0; times < 5; times++) {
        for (const fact of facts) await journal.append([progress(0), fact, said('noise')], { sync: true });
        await journal.append(facts, { sync: true });
      }
      await journal.close();
      const { lines, skipped } = await readJournal(path);
      expect((await stat(path)).size).toBeGreaterThan(2 * LIMIT);
      expect(skipped).toEqual([]);
      expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
      expect(told).toEqual(lines);
      const cut = lines.findIndex(({ type }) => type === 'journal.truncated');
      expect(lines[cut]).toMatchObject({ limit: LIMIT });
      expect(lines.filter(({ type }) => type === 'journal.truncated')).toHaveLength(1);
      expect(lines.slice(0, cut).every(({ type }) => isProgress(type))).toBe(true);
      const kept = lines.slice(cut + 1).map(({ seq: _, t: __, ...event }) => event);
      expect(kept).toEqual(Array.from({ length: 5 }, () => [...facts, ...facts]).flat());
    });

    it('says so once, however often it is opened and whoever writes at the same time', async () => {
      for (let runner = 0; runner < 3; runner++) {
        const journal = await JournalWriter.open(path, { maxBytes: 1 });
        await Promise.all(Array.from({ length: 20 }, (_, i) => journal.append([progress(i)], { sync: false })));
        await journal.append([{ type: 'run.proceeded' }], { sync: true });
        await journal.close();
      }
      const { lines } = await readJournal(path);
      const proceeded = Array.from({ length: 3 }, () => 'run.proceeded');
      expect(lines.map(({ type }) => type)).toEqual(['journal.truncated', ...proceeded]);
    });

    it('leaves the outcome of the run as it is', async () => {
      const story: JournalEvent[] = Object.values(oneOfEach).filter(({ type }) => type !== 'journal.truncated');
      const record = aRecord();
      const views = [];
      for (const maxBytes of [MAX_JOURNAL_BYTES, 1]) {
        const file = join(folder.path, `${maxBytes}.jsonl`);
        const journal = await JournalWriter.open(file, { maxBytes, now: () => 5_000 });
        for (const event of story) await journal.append([event], { sync: false });
        await journal.close();
        const { seq: _, progressCut, ...view } = foldRun(record, (await readJournal(file)).lines);
        expect(progressCut).toBe(maxBytes === 1 ? true : undefined);
        views.push(view);
      }
      expect(views[1]).toEqual(views[0]);
    });

    it('is 50 MiB, or what the environment says in whole bytes', () => {
      const warnings: string[] = [];
      const limit = (text?: string) =>
        journalLimit(text === undefined ? {} : { PI_SUBAGENT_ASYNC_EVENTS_MAX_BYTES: text }, (warning) =>
          warnings.push(warning),
        );
      expect([limit(), limit(''), limit('1'), limit('1048576')]).toEqual([52_428_800, 52_428_800, 1, 1_048_576]);
      expect(warnings).toEqual([]);
      const wrong = ['0', '-5', '1e6', '10MB', '1.5', ' 7', 'Infinity', '9'.repeat(40)];
      expect(wrong.map(limit)).toEqual(wrong.map(() => MAX_JOURNAL_BYTES));
      expect(warnings).toHaveLength(wrong.length);
      for (const [at, text] of wrong.entries()) {
        expect(warnings[at]).toContain(`PI_SUBAGENT_ASYNC_EVENTS_MAX_BYTES is "${text}"; it must be a whole number`);
      }
    });
  });

  describe('on a disk that is full', () => {
    const errno = (code: string) => Object.assign(new Error(`${code}: write`), { code });

    /** Makes the next writes fail one after the other, each after a part of it has reached the file. */
    async function failWrites(...codes: string[]) {
      const prototype = await handles();
      const original = prototype.write;
      // A first part is taken, the write of the rest fails: what a disk that fills up does.
      const plan = codes.flatMap((code) => [undefined, code]);
      return vi.spyOn(prototype, 'write').mockImplementation(async function (this: typeof prototype, buffer, offset) {
        const next = plan.shift();
        if (next !== undefined) throw errno(next);
        return original.call(this, buffer, offset, plan.length > 0 ? 25 : buffer.length - offset);
      });
    }

    it('says that a write failed, and cuts the part of it off again', async () => {
      const journal = await JournalWriter.open(path);
      await journal.append([said('a')], { sync: true });
      const before = await readFile(path);
      await failWrites('EFBIG');
      await expect(journal.append([said('lost')], { sync: true })).rejects.toThrow('EFBIG');
      expect(await readFile(path)).toEqual(before);
      await journal.append([said('b')], { sync: true });
      await journal.close();
      const content = await readJournal(path);
      expect(textsOf(content.lines)).toEqual(['a', 'b']);
      expect(content).toMatchObject({ skipped: [], unfinishedBytes: 0 });
    });

    it('tells everybody whose event was in the write that failed, and nobody else', async () => {
      const told: string[] = [];
      const journal = await JournalWriter.open(path, { onAppended: (line) => told.push(...textsOf([line])) });
      await failWrites('EIO');
      // The first is on its way when the other two come and wait together.
      const results = await Promise.allSettled(
        ['a', 'b', 'c'].map((text) => journal.append([said(text)], { sync: false })),
      );
      await journal.append([said('d')], { sync: false });
      await journal.close();
      const there = results.map(({ status }) => status === 'fulfilled');
      expect(there).toContain(false);
      const kept = ['a', 'b', 'c'].filter((_, i) => there[i]);
      expect(textsOf((await readJournal(path)).lines)).toEqual([...kept, 'd']);
      expect(told).toEqual([...kept, 'd']);
    });

    it.each(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE'])(
      'waits after %s, and goes on when there is room',
      async (code) => {
        const journal = await JournalWriter.open(path);
        await journal.append([said('a')], { sync: true });
        const before = await readFile(path);
        const write = await failWrites(code, code);
        const order: string[] = [];
        const waiting = journal.append([said('b')], { sync: true }).then(() => order.push('b'));
        const later = journal.append([said('c')], { sync: false }).then(() => order.push('c'));
        for (const tries of [2, 4]) {
          const { ms, end } = await nextPause();
          expect(ms).toBe(1_000);
          expect(write).toHaveBeenCalledTimes(tries);
          // Nothing of the try is left, and nobody was told anything.
          expect(await readFile(path)).toEqual(before);
          expect(order).toEqual([]);
          end();
        }
        await Promise.all([waiting, later]);
        expect(order).toEqual(['b', 'c']);
        await journal.close();
        const content = await readJournal(path);
        expect(textsOf(content.lines)).toEqual(['a', 'b', 'c']);
        expect(content).toMatchObject({ skipped: [], lastSeq: 3 });
      },
    );

    it('waits with the sync as well, and syncs before it says so', async () => {
      const prototype = await handles();
      const journal = await JournalWriter.open(path);
      const sync = vi.spyOn(prototype, 'datasync').mockRejectedValueOnce(errno('ENOSPC'));
      let known = false;
      const waiting = journal.append([said('a')], { sync: true }).then(() => {
        known = true;
      });
      const { end } = await nextPause();
      expect(known).toBe(false);
      end();
      await waiting;
      expect(sync).toHaveBeenCalledTimes(2);
      await journal.close();
      expect(textsOf((await readJournal(path)).lines)).toEqual(['a']);
    });

    const limits = process.platform === 'linux' && existsSync('/usr/bin/prlimit') && existsSync('/bin/bash');
    it.skipIf(!limits)('acknowledges exactly what is there, and goes on when it has room', async () => {
      const worker = join(import.meta.dirname, 'workers', 'full-disk.ts');
      // The limit of the size of files ends a write with EFBIG, in the middle of it.
      const args = ['-c', 'ulimit -S -f 8; exec "$0" "$@"', process.execPath, worker, path];
      const { stdout } = await promisify(execFile)('/bin/bash', args);
      const { acknowledged, refused } = JSON.parse(stdout);
      expect(refused).toBe(2);
      expect(acknowledged).toHaveLength(18);
      const content = await readJournal(path);
      expect(textsOf(content.lines).map((text) => Number.parseInt(text, 10))).toEqual(acknowledged);
      expect(content).toMatchObject({ skipped: [], unfinishedBytes: 0, end: (await stat(path)).size });
    });
  });
});

describe('reading', () => {
  it('takes a missing journal as empty', async () => {
    const empty = { lines: [], skipped: [], lastSeq: 0, end: 0, unfinishedBytes: 0 };
    expect(await readJournal(path)).toEqual(empty);
  });

  it('B55 skips exactly the bad records, says where each is, and reads all that come later', async () => {
    const good = (seq: number) => lineOf(seq, `good ${seq} ü 漢 \u2028`);
    const invalidUtf8 = Buffer.concat([
      Buffer.from('{"seq":5,"t":5,"type":"child.stdout","text":"'),
      Buffer.from([0xff, 0xfe]),
    ]);
    const records: { bytes: Buffer | string; problem?: string; seq?: number }[] = [
      { bytes: good(1) },
      { bytes: good(2) + good(3), problem: 'not-json' },
      { bytes: good(4) },
      { bytes: good(5).slice(0, 30), problem: 'not-json' },
      { bytes: Buffer.alloc(4096), problem: 'nul-bytes' },
      { bytes: good(6) },
      { bytes: Buffer.alloc(20 * 1024 * 1024, 'x'), problem: 'too-long' },
      { bytes: good(7) },
      { bytes: invalidUtf8, problem: 'invalid-utf8' },
      { bytes: good(8) },
      { bytes: '{"hello":"there"}', problem: 'not-an-event' },
      { bytes: '{"seq":9,"t":5,"type":"child.teleported","to":"mars"}', problem: 'newer-event', seq: 9 },
      { bytes: good(10) },
      { bytes: good(4), problem: 'sequence', seq: 4 },
      { bytes: '' },
      { bytes: good(11) },
    ];
    const expected: object[] = [];
    let offset = 0;
    for (const { bytes, problem, seq } of records) {
      const length = Buffer.byteLength(bytes);
      if (problem) expected.push({ offset, length, problem, ...(seq === undefined ? {} : { seq }) });
      await appendFile(path, Buffer.concat([Buffer.from(bytes), Buffer.from('\n')]));
      offset += length + 1;
    }
    const torn = good(12).slice(0, 40);
    await appendFile(path, torn);

    const content = await readJournal(path);
    expect(content.skipped).toEqual(expected);
    expect(content.lines.map((line) => line.seq)).toEqual([1, 4, 6, 7, 8, 10, 11]);
    expect(textsOf(content.lines).at(-1)).toBe('good 11 ü 漢 \u2028');
    expect(content).toMatchObject({ lastSeq: 11, end: offset, unfinishedBytes: Buffer.byteLength(torn) });

    const journal = await JournalWriter.open(path);
    await journal.append([said('after')], { sync: true });
    await journal.close();
    const again = await readJournal(path);
    expect(again.lines.at(-1)).toMatchObject({ seq: 12, text: 'after' });
    expect(again.skipped).toEqual([...expected, { offset, length: Buffer.byteLength(torn), problem: 'not-json' }]);
  });

  it('reads a journal of any length, wherever its parts are cut', async () => {
    const texts = Array.from({ length: 900 }, (_, i) => `${i} ${'ü漢x'.repeat(i % 400)}`);
    await writeFile(path, texts.map((text, i) => `${lineOf(i + 1, text)}\n`).join(''));
    expect((await stat(path)).size).toBeGreaterThan(1_000_000);
    const content = await readJournal(path);
    expect(textsOf(content.lines)).toEqual(texts);
    expect(content).toMatchObject({ skipped: [], lastSeq: 900, end: (await stat(path)).size });
  });

  it('gives each event of a growing journal once, a line that is not finished only when it is', async () => {
    const tail = new JournalTail(path);
    expect(await tail.read()).toEqual([]);
    await appendFile(path, `${lineOf(1, 'a')}\n${lineOf(2, 'b').slice(0, 10)}`);
    expect(textsOf(await tail.read())).toEqual(['a']);
    expect(tail.position().unfinishedBytes).toBe(10);
    expect(await tail.read()).toEqual([]);
    await appendFile(path, `${lineOf(2, 'b').slice(10)}\n${lineOf(3, 'c')}\n`);
    expect(textsOf(await tail.read())).toEqual(['b', 'c']);
    expect(tail.position()).toMatchObject({ unfinishedBytes: 0, lastSeq: 3, skipped: [] });
  });

  describe('run-23 a journal that is another one, with the time and size of the old', () => {
    const content = (text: string) => `${lineOf(1, text)}\n${lineOf(2, 'same')}\n`;
    const old = new Date(1_700_000_000_000);

    /** A tail that has read the old journal. */
    async function readTail(): Promise<JournalTail> {
      await writeFile(path, content('old'));
      await utimes(path, old, old);
      const tail = new JournalTail(path);
      expect(textsOf(await tail.read())).toEqual(['old', 'same']);
      expect(await tail.read()).toEqual([]);
      expect(tail.generation).toBe(0);
      return tail;
    }

    async function expectNew(tail: JournalTail, before: Stats): Promise<void> {
      const now = await stat(path);
      expect([now.size, now.mtimeMs]).toEqual([before.size, before.mtimeMs]);
      expect(textsOf(await tail.read())).toEqual(['new', 'same']);
      expect(tail.generation).toBe(1);
      expect(await tail.read()).toEqual([]);
      await appendFile(path, `${lineOf(3, 'more')}\n`);
      expect(textsOf(await tail.read())).toEqual(['more']);
      expect(tail.position()).toMatchObject({ lastSeq: 3, skipped: [], unfinishedBytes: 0 });
    }

    it('is noticed when it was put in its place', async () => {
      const tail = await readTail();
      const before = await stat(path);
      await writeFile(`${path}.new`, content('new'));
      await utimes(`${path}.new`, old, old);
      await rename(`${path}.new`, path);
      await expectNew(tail, before);
    });

    it.skipIf(process.platform === 'win32')('is noticed when it was written over', async () => {
      const tail = await readTail();
      const before = await stat(path);
      await vi.waitFor(async () => {
        await using file = await open(path, 'r+');
        await file.write(content('new'), 0);
        await file.utimes(old, old);
        expect((await file.stat()).ctimeMs).toBeGreaterThan(before.ctimeMs);
      });
      await expectNew(tail, before);
    });

    it('is noticed when it became shorter', async () => {
      const tail = await readTail();
      await writeFile(path, `${lineOf(1, 'short')}\n`);
      expect(textsOf(await tail.read())).toEqual(['short']);
      expect(tail.generation).toBe(1);
    });
  });

  it('B55 gives the same however the bytes of a growing journal are cut', async () => {
    const record = fc.oneof(
      {
        weight: 6,
        arbitrary: fc
          .record({ seq: fc.integer({ min: 1, max: 60 }), text: fc.string({ unit: 'grapheme' }) })
          .map(({ seq, text }) => Buffer.from(lineOf(seq, text))),
      },
      {
        weight: 2,
        arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10))),
      },
      {
        weight: 1,
        arbitrary: fc.integer({ min: MAX_LINE_BYTES - 2, max: MAX_LINE_BYTES * 5 }).map((n) => Buffer.alloc(n, 'y')),
      },
    );
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { maxLength: 14 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        fc.boolean(),
        async (records, cuts, finished) => {
          const file = join(folder.path, `run-${runs++}.jsonl`);
          const body = Buffer.concat(records.flatMap((one) => [one, Buffer.from('\n')]));
          const bytes = finished ? body : body.subarray(0, -1);
          const borders = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
          const tail = new JournalTail(file);
          const found: JournalLine[] = [];
          for (let i = 1; i < borders.length; i++) {
            await appendFile(file, bytes.subarray(borders[i - 1], borders[i]));
            found.push(...(await tail.read()));
          }
          const whole = await readJournal(file);
          expect({ lines: found, ...tail.position() }).toEqual(whole);
          // Every record is either returned or named, none twice.
          const complete = (finished ? records : records.slice(0, -1)).filter((one) => one.length > 0);
          expect(whole.lines.length + whole.skipped.length).toBe(complete.length);
          for (const { offset, length } of whole.skipped) expect(bytes[offset + length]).toBe(10);
        },
      ),
      { numRuns: 60 },
    );
  });
});
