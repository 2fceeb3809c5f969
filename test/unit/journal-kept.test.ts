/** A journal that somebody changes under its writer. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JournalWriter, readJournal } from '../../src/core/journal/index.ts';
import { KeptLines } from '../../src/core/journal/kept-lines.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { oneOfEach } from './builders/events.ts';

let folder: TempDir;
let path: string;
let journal: JournalWriter;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  path = join(folder.path, 'journal.jsonl');
  journal = await JournalWriter.open(path, { now: () => 7 });
  await journal.append([oneOfEach['run.created'], oneOfEach['run.proceeded']], { sync: true });
  await journal.append([oneOfEach['child.progress']], { sync: false });
});
afterEach(async () => {
  await journal.close();
  await folder.remove();
});

const types = async () => (await readJournal(path)).lines.map(({ type }) => type);
const others = async () => (await readdir(folder.path)).filter((name) => name !== 'journal.jsonl');

describe('a journal that is as it was written', () => {
  it('is not touched, nor when somebody added a line', async () => {
    expect(await journal.keep()).toBe('sound');
    await writeFile(path, 'a foreign line\n', { flag: 'a' });
    expect(await journal.keep()).toBe('sound');
    expect(await types()).toEqual(['run.created', 'run.proceeded', 'child.progress']);
    expect(await others()).toEqual([]);
  });
});

describe('a journal that was', () => {
  const changes: [string, () => Promise<unknown>, string | undefined][] = [
    ['removed', () => rm(path), undefined],
    [
      'replaced by an older copy',
      async () => {
        await writeFile(`${path}.old`, (await readFile(path, 'utf8')).split('\n')[0] ?? '');
        await rename(`${path}.old`, path);
      },
      'file',
    ],
    ['cut', () => truncate(path, 10), undefined],
    ['emptied', () => truncate(path, 0), undefined],
    ['made a folder', () => rm(path).then(() => mkdir(path)), 'folder'],
    ['made a pipe', () => rm(path).then(() => promisify(execFile)('mkfifo', [path])), 'pipe'],
  ];

  it.each(changes)('%s is written again', async (_, change, aside) => {
    await change();
    expect(await journal.keep()).toBe('rewritten');
    expect(await types()).toEqual(['run.created', 'run.proceeded', 'child.progress']);
    // What stood in its place is kept.
    expect(await others()).toEqual(aside === undefined ? [] : ['journal.jsonl.7.aside']);
    await journal.append([oneOfEach['run.ended']], { sync: true });
    expect(await types()).toEqual(['run.created', 'run.proceeded', 'child.progress', 'run.ended']);
    const { lines, skipped } = await readJournal(path);
    expect(skipped).toEqual([]);
    expect(lines.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(await journal.keep()).toBe('sound');
  });

  it('cut and written to before anybody looked is written again as well', async () => {
    await truncate(path, 0);
    await journal.append([oneOfEach['run.ended']], { sync: true });
    expect(await types()).toEqual(['run.ended']);
    expect(await journal.keep()).toBe('rewritten');
    expect(await types()).toEqual(['run.created', 'run.proceeded', 'child.progress', 'run.ended']);
  });

  it('removed is written again with what stood in it when this writer came', async () => {
    await journal.close();
    journal = await JournalWriter.open(path);
    await rm(path);
    expect(await journal.keep()).toBe('rewritten');
    expect(await types()).toEqual(['run.created', 'run.proceeded', 'child.progress']);
  });
});

it('what is written meanwhile comes after it', async () => {
  await rm(path);
  const kept = journal.keep();
  const written = journal.append([oneOfEach['run.ended']], { sync: true });
  expect(await kept).toBe('rewritten');
  await written;
  expect(await types()).toEqual(['run.created', 'run.proceeded', 'child.progress', 'run.ended']);
});

it('a folder that is gone as a whole is not made again', async () => {
  await rm(folder.path, { recursive: true });
  await expect(journal.keep()).rejects.toMatchObject({ code: 'ENOENT' });
});

describe('the lines that are kept', () => {
  const line = Buffer.from('0123456789');
  const keep = (...types: (keyof typeof oneOfEach)[]) => {
    const kept = new KeptLines({ withProgressBytes: 30, mostBytes: 45 });
    for (const type of types) kept.add(type, line);
    return kept.content?.length;
  };

  it('are all, as long as they are few', () => {
    expect(keep('run.created', 'child.progress', 'child.stdout')).toBe(30);
  });

  it('are those by which the run is decided, when they are many', () => {
    expect(keep('run.created', 'child.progress', 'child.stdout', 'run.proceeded', 'child.progress')).toBe(20);
  });

  it('are none, when these are too many', () => {
    expect(keep(...new Array<'run.ended'>(4).fill('run.ended'))).toBe(40);
    expect(keep(...new Array<'run.ended'>(5).fill('run.ended'))).toBeUndefined();
  });
});
