import { appendFile, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MirrorReader, MirrorWriter, redact } from '../../src/core/transcripts/index.ts';
import { MAX_BLOCK_CHARS, MAX_DIFF_CHARS, type TranscriptEntry, transcriptEntry } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { secrets } from './builders/secrets.ts';

let folder: TempDir;
let path: string;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  path = join(folder.path, 'transcript.jsonl');
});

afterEach(async () => {
  vi.useRealTimers();
  await folder.remove();
});

const delta = (text: string, index = 0, kind: 'text' | 'thinking' | 'toolCall' = 'text'): TranscriptEntry => ({
  type: 'delta',
  t: 1,
  kind,
  index,
  text,
});
const note = (text: string): TranscriptEntry => ({ type: 'note', t: 1, text });
const answer = (text: string): TranscriptEntry => ({
  type: 'message',
  t: 1,
  role: 'assistant',
  blocks: [{ type: 'text', text }],
});
const update = (text: string, t = Date.now(), id = 'c'): TranscriptEntry => ({ type: 'tool.update', t, id, text });

const inFile = async (file = path): Promise<TranscriptEntry[]> =>
  (await readFile(file, 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => transcriptEntry.parse(JSON.parse(line)));

const textOf = (entries: readonly TranscriptEntry[]) =>
  entries.map((entry) => ('text' in entry ? entry.text : entry.type));

async function written(entries: readonly TranscriptEntry[]): Promise<TranscriptEntry[]> {
  const mirror = new MirrorWriter(path);
  for (const entry of entries) mirror.add(entry);
  await mirror.close();
  return inFile();
}

describe('writing the mirror', () => {
  it('keeps every entry in order, for its owner only', async () => {
    const entries: TranscriptEntry[] = [
      { type: 'message', t: 1, role: 'user', blocks: [{ type: 'text', text: 'do it' }] },
      { type: 'tool.start', t: 2, id: 'c', name: 'bash', arguments: '{}' },
      { type: 'tool.end', t: 3, id: 'c', name: 'bash', text: 'out', isError: true, durationMs: 5 },
      { type: 'retry', t: 4, attempt: 1, maxAttempts: 3, delayMs: 50, error: '529' },
      { type: 'compaction', t: 5, phase: 'end', reason: 'overflow', summary: 's' },
      { type: 'message', t: 6, role: 'assistant', blocks: [{ type: 'image', mimeType: 'image/png' }], error: 'e' },
      note('end'),
    ];
    expect(await written(entries)).toEqual(entries);
    if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('appears soon, without being asked to', async () => {
    const mirror = new MirrorWriter(path);
    mirror.add(note('here'));
    await expect.poll(() => inFile()).toEqual([note('here')]);
    await mirror.close();
  });

  it('joins what is streamed together, and keeps parts apart', async () => {
    const words = Array.from({ length: 200 }, (_, i) => `w${i} `);
    expect(await written(words.map((word) => delta(word)))).toEqual([delta(words.join(''))]);
    await appendFile(path, '');
    path = join(folder.path, 'other.jsonl');
    const parts = [
      delta('a ', 0, 'thinking'),
      delta('b ', 0, 'thinking'),
      delta('c ', 0),
      delta('d ', 1),
      delta('{"x', 1, 'toolCall'),
    ];
    expect(await written(parts)).toEqual([
      delta('a b ', 0, 'thinking'),
      delta('c ', 0),
      delta('d ', 1),
      delta('{"x', 1, 'toolCall'),
    ]);
  });

  it('lets the message replace streamed text that still waits, and writes the rest before other entries', async () => {
    expect(await written([delta('Hel'), delta('lo'), answer('Hello')])).toEqual([answer('Hello')]);
    path = join(folder.path, 'other.jsonl');
    expect(await written([delta('Hel'), note('between'), delta('lo')])).toEqual([
      delta('Hel'),
      note('between'),
      delta('lo'),
    ]);
  });

  it('B84 never holds a token, however it was streamed', async () => {
    const all = Object.values(secrets).map((one) => one.text);
    const text = fc.array(fc.constantFrom(...all, 'plain', 'ü', '漢字', '🦊', '\n'), { minLength: 1, maxLength: 4 });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(), { maxLength: 8 }), async (parts, cuts) => {
        const whole = parts.join(' ');
        const borders = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
        path = join(folder.path, `${runs++}.jsonl`);
        const mirror = new MirrorWriter(path);
        for (let i = 1; i < borders.length; i++) {
          mirror.add(delta(whole.slice(borders[i - 1], borders[i])));
          await mirror.flush();
        }
        await mirror.close();
        expect(textOf(await inFile()).join('')).toBe(redact(whole));
      }),
      { numRuns: 120 },
    );
  });

  it('B84 never holds a token in any field', async () => {
    const { text: secret } = secrets['a GitHub token'] ?? { text: '' };
    await written([
      {
        type: 'message',
        t: 1,
        role: 'assistant',
        blocks: [
          { type: 'text', text: secret },
          { type: 'thinking', text: secret },
          { type: 'toolCall', id: 'c', name: 'bash', arguments: secret },
        ],
        error: secret,
      },
      { type: 'tool.start', t: 1, id: 'c', name: 'bash', arguments: secret },
      update(secret),
      { type: 'tool.end', t: 1, id: 'c', name: 'bash', text: secret, isError: false, diff: `+1 ${secret}` },
      { type: 'retry', t: 1, attempt: 1, maxAttempts: 1, delayMs: 1, error: secret },
      { type: 'compaction', t: 1, phase: 'end', reason: 'x', summary: secret },
      note(secret),
    ]);
    const file = await readFile(path, 'utf8');
    expect(file).not.toContain(secret.slice(-20));
    expect(file.match(/\[redacted\]/g)).toHaveLength(11);
  });

  it('cuts long blocks in the middle, and says how much is left out', async () => {
    const half = MAX_BLOCK_CHARS / 2;
    const text = `${'a'.repeat(half)}${'b'.repeat(1234)}${'c'.repeat(half)}`;
    const [entry] = await written([answer(text)]);
    const cut = `${'a'.repeat(half)}\n… 1234 characters left out here …\n${'c'.repeat(half)}`;
    expect(entry).toEqual(answer(cut));
    path = join(folder.path, 'other.jsonl');
    expect(await written([answer('a'.repeat(MAX_BLOCK_CHARS))])).toEqual([answer('a'.repeat(MAX_BLOCK_CHARS))]);
  });

  it('cuts a long diff behind its limit', async () => {
    const diff = '+1 x\n'.repeat(MAX_DIFF_CHARS);
    const [entry] = await written([
      { type: 'tool.end', t: 1, id: 'c', name: 'edit', text: 'ok', isError: false, diff },
    ]);
    expect(entry).toMatchObject({ text: 'ok', diff: diff.slice(0, MAX_DIFF_CHARS) });
  });

  it('keeps the end of long tool output, and no half of a token where it is cut', async () => {
    const { text: secret } = secrets['a GitHub token'] ?? { text: '' };
    const text = `start ${secret} ${'x'.repeat(8 * 1024 - 20)}end`;
    const [entry] = await written([update(text)]);
    const shown = entry?.type === 'tool.update' ? entry.text : '';
    expect(shown).toHaveLength(8 * 1024 + 1);
    expect(shown).toMatch(/^….*xend$/s);
    expect(shown).not.toContain(secret.slice(-15));
  });

  it('goes on without a file when none can be written, and says why', async () => {
    const mirror = new MirrorWriter(join(folder.path, 'nowhere', 'transcript.jsonl'));
    mirror.add(note('a'));
    await mirror.flush();
    expect(mirror.failure).toMatchObject({ code: 'ENOENT' });
    mirror.add(note('b'));
    await mirror.close();
  });
});

describe('the output of a running tool', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });

  const pass = async (mirror: MirrorWriter, ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    await mirror.flush();
  };

  it('is written now and then, the last state also when nothing follows', async () => {
    const mirror = new MirrorWriter(path);
    for (let i = 0; i < 10; i++) {
      mirror.add(update(`out ${i}`));
      await pass(mirror, 10);
    }
    expect(textOf(await inFile())).toEqual(['out 0']);
    await vi.advanceTimersByTimeAsync(300);
    vi.useRealTimers();
    await expect.poll(async () => textOf(await inFile())).toEqual(['out 0', 'out 9']);
    await mirror.close();
    expect(textOf(await inFile())).toEqual(['out 0', 'out 9']);
  });

  it('is at most four lines a second for each tool', async () => {
    const mirror = new MirrorWriter(path);
    for (let i = 0; i < 100; i++) {
      mirror.add(update(`a ${i}`, Date.now(), 'a'));
      mirror.add(update(`b ${i}`, Date.now(), 'b'));
      await pass(mirror, 20);
    }
    await mirror.close();
    for (const id of ['a', 'b']) {
      const lines = (await inFile()).filter((entry) => entry.type === 'tool.update' && entry.id === id);
      expect(lines.length).toBeGreaterThan(5);
      expect(lines.length).toBeLessThanOrEqual(10);
    }
  });

  it('is not written any more once the tool has ended', async () => {
    const mirror = new MirrorWriter(path);
    const end: TranscriptEntry = { type: 'tool.end', t: 1, id: 'c', name: 'bash', text: 'all', isError: false };
    for (const entry of [update('one'), update('two'), end]) mirror.add(entry);
    await pass(mirror, 1_000);
    await mirror.close();
    expect(textOf(await inFile())).toEqual(['one', 'all']);
  });

  it('is complete when the mirror is closed under it', async () => {
    const mirror = new MirrorWriter(path);
    mirror.add(update('one'));
    mirror.add(update('two'));
    await mirror.close();
    expect(textOf(await inFile())).toEqual(['one', 'two']);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a mirror beyond its limit', () => {
  const limits = { headBytes: 1_000, segmentBytes: 500, segments: 2 };
  const line = (i: number) => note(`${i} ${'x'.repeat(80)}`);
  const number = (entry: TranscriptEntry) => ('text' in entry ? Number.parseInt(entry.text, 10) : Number.NaN);

  async function fill(mirror: MirrorWriter, from: number, to: number) {
    for (let i = from; i < to; i++) {
      mirror.add(line(i));
      await mirror.flush();
    }
  }

  it('B89 keeps its head and its newest segments, and says what is missing', async () => {
    const mirror = new MirrorWriter(path, limits);
    await fill(mirror, 0, 60);
    await mirror.close();
    const files = (await readdir(folder.path)).sort();
    expect(files).toHaveLength(3);
    expect(files[0]).toBe(basename(path));
    const sizes = await Promise.all(files.map(async (name) => (await stat(join(folder.path, name))).size));
    expect(sizes.every((size, i) => size <= (i === 0 ? 1_000 : 500))).toBe(true);

    const entries = await new MirrorReader(path).read();
    const gap = entries.findIndex((entry) => Number.isNaN(number(entry)));
    expect(entries[gap]).toMatchObject({ type: 'note', text: expect.stringMatching(/middle .* left out/) });
    const numbers = [...entries.slice(0, gap), ...entries.slice(gap + 1)].map(number);
    expect(numbers.slice(0, gap)).toEqual(Array.from({ length: gap }, (_, i) => i));
    expect(numbers.at(-1)).toBe(59);
    expect(numbers.slice(gap)).toEqual(
      Array.from({ length: numbers.length - gap }, (_, i) => 60 - (numbers.length - gap) + i),
    );
    expect(numbers.length).toBeLessThan(60);
  });

  it('has no gap for a reader that kept up', async () => {
    const mirror = new MirrorWriter(path, limits);
    const reader = new MirrorReader(path);
    const seen: number[] = [];
    for (let i = 0; i < 60; i++) {
      await fill(mirror, i, i + 1);
      seen.push(...(await reader.read()).map(number));
    }
    await mirror.close();
    expect(seen).toEqual(Array.from({ length: 60 }, (_, i) => i));
  });

  it('has one for a reader whose segment was dropped under it', async () => {
    const mirror = new MirrorWriter(path, limits);
    const reader = new MirrorReader(path);
    await fill(mirror, 0, 15);
    const before = (await reader.read()).map(number);
    expect(before).toEqual(Array.from({ length: 15 }, (_, i) => i));
    await fill(mirror, 15, 60);
    await mirror.close();
    const after = await reader.read();
    expect(after[0]).toMatchObject({ type: 'note', text: expect.stringMatching(/left out/) });
    expect(after.slice(1).map(number)).toEqual(
      Array.from({ length: after.length - 1 }, (_, i) => 61 - after.length + i),
    );
    expect(await reader.read()).toEqual([]);
  });

  it('has one also when just the segment that was being read is gone', async () => {
    const segment = (n: number) => path.replace('.jsonl', `.tail-${n}.jsonl`);
    const jsonLine = (i: number) => `${JSON.stringify(line(i))}\n`;
    await appendFile(path, jsonLine(0));
    await appendFile(segment(1), jsonLine(1));
    const reader = new MirrorReader(path);
    expect((await reader.read()).map(number)).toEqual([0, 1]);
    await appendFile(segment(2), jsonLine(3));
    await rm(segment(1));
    const after = await reader.read();
    expect(after.map((entry) => entry.type === 'note' && /left out/.test(entry.text))).toEqual([true, false]);
    expect(number(after[1] ?? note(''))).toBe(3);
  });

  it('is whole when it just fits', async () => {
    const mirror = new MirrorWriter(path, limits);
    await fill(mirror, 0, 15);
    await mirror.close();
    expect((await new MirrorReader(path).read()).map(number)).toEqual(Array.from({ length: 15 }, (_, i) => i));
  });
});

describe('reading the mirror', () => {
  it('finds nothing where there is none', async () => {
    expect(await new MirrorReader(path).read()).toEqual([]);
    expect(await new MirrorReader(join(folder.path, 'nowhere', 'x.jsonl')).read()).toEqual([]);
  });

  it('takes lines when they are whole, and counts those it cannot read', async () => {
    const reader = new MirrorReader(path);
    const [a, b] = [note('a ü'), note('b')].map((entry) => JSON.stringify(entry));
    await appendFile(path, `${a}\nnot json\n{"type":"hologram","t":1}\n\n${b?.slice(0, 9)}`);
    expect(textOf(await reader.read())).toEqual(['a ü']);
    expect(reader.unreadable).toBe(2);
    expect(await reader.read()).toEqual([]);
    await appendFile(path, `${b?.slice(9)}\n`);
    expect(textOf(await reader.read())).toEqual(['b']);
    expect(reader.unreadable).toBe(2);
  });

  it('gives the same however the file grew', async () => {
    const lines = fc.array(
      fc.oneof(
        fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(note(text))),
        fc.constant('torn {'),
      ),
      { maxLength: 12 },
    );
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(lines, fc.array(fc.nat(), { maxLength: 8 }), async (all, cuts) => {
        const file = join(folder.path, `${runs++}.jsonl`);
        const bytes = Buffer.from(all.map((one) => `${one}\n`).join(''));
        const borders = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const reader = new MirrorReader(file);
        const seen: TranscriptEntry[] = [];
        for (let i = 1; i < borders.length; i++) {
          await appendFile(file, bytes.subarray(borders[i - 1], borders[i]));
          seen.push(...(await reader.read()));
        }
        const good = all.filter((one) => one !== 'torn {');
        expect(seen).toEqual(good.map((one) => JSON.parse(one)));
        expect(reader.unreadable).toBe(all.length - good.length);
      }),
      { numRuns: 60 },
    );
  });
});
