/** Whatever is read of a transcript, in whatever pieces and however it grows, it is the same transcript. */
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TranscriptSource } from '../../../src/core/transcripts/index.ts';
import type { PanelItem, PanelWindow, SourceContext, SourceFile } from '../../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { mirrorBytes, sessionBytes } from '../builders/transcripts.ts';

let folder: TempDir;
let files = 0;
beforeAll(async () => {
  folder = await tempDir({ name: 'awkward' });
});
afterAll(() => folder.remove());

const LIVE: SourceContext = { live: true, steering: [] };
const newFile = (kind: SourceFile['kind']): SourceFile => ({ kind, path: join(folder.path, `${++files}.jsonl`) });
const sourceOf = (file: SourceFile, items = 1000, context = LIVE) =>
  new TranscriptSource(file, context, { limits: { items, chars: 1e9 } });

const kinds = [
  { kind: 'mirror' as const, bytes: mirrorBytes },
  { kind: 'session' as const, bytes: sessionBytes },
];

async function allBackward(source: TranscriptSource): Promise<PanelItem[]> {
  let { window } = await source.snapshot();
  const items = [...window.items];
  while (window.before !== null) {
    const page: PanelWindow | undefined = await source.page('before', window.before);
    if (!page) throw new Error('a cursor of the source itself was refused');
    window = page;
    items.unshift(...page.items);
  }
  return items;
}

async function allForward(source: TranscriptSource, from: PanelItem | undefined): Promise<PanelItem[]> {
  const items = from ? [from] : [];
  for (let cursor = from?.cursor ?? null; cursor !== null; ) {
    const page = await source.page('after', cursor);
    if (!page) throw new Error('a cursor of the source itself was refused');
    items.push(...page.items);
    cursor = page.after;
  }
  return items;
}

/** What a page holds, as the extension's messages make it. */
class Shown {
  items: PanelItem[] = [];

  take(update: Awaited<ReturnType<TranscriptSource['poll']>>): void {
    if (!update) return;
    if (update.type === 'snapshot') {
      this.items = update.snapshot.window.items;
      return;
    }
    const { changed, grown, removed, added } = update.changes;
    const now = new Map(changed.map((item) => [item.key, item]));
    this.items = this.items.filter(({ key }) => !removed.includes(key)).map((item) => now.get(item.key) ?? item);
    for (const { key, text } of grown) {
      this.items = this.items.map((item) => {
        if (item.key !== key || (item.kind !== 'text' && item.kind !== 'thinking')) return item;
        const { body } = item;
        return { ...item, body: { ...body, text: body.text + text, length: body.length + text.length } };
      });
    }
    this.items.push(...added);
  }
}

/** Of one transcript that grows. */
const MAX_STEPS = 500;

describe.each(kinds)('a $kind', ({ kind, bytes }) => {
  it('is the same in pages of any size, backward and forward', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 1, max: 7 }), async (content, size) => {
        const file = newFile(kind);
        await writeFile(file.path, content);
        const whole = (await sourceOf(file).snapshot()).window;
        expect(whole.before).toBeNull();
        expect(new Set(whole.items.map(({ key }) => key)).size).toBe(whole.items.length);
        const small = sourceOf(file, size);
        expect(await allBackward(small)).toEqual(whole.items);
        expect(await allForward(small, whole.items[0])).toEqual(whole.items);
      }),
      { numRuns: 150 },
    );
  });

  it('shows around every item the items beside it', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 2, max: 7 }), async (content, size) => {
        const file = newFile(kind);
        await writeFile(file.path, content);
        const { items } = (await sourceOf(file).snapshot()).window;
        const small = sourceOf(file, size);
        await small.snapshot();
        for (const [index, { key, cursor }] of items.entries()) {
          const page = await small.page('around', cursor);
          const at = page?.items.findIndex((item) => item.key === key) ?? -1;
          expect(at).toBeGreaterThanOrEqual(0);
          expect(page?.items).toEqual(items.slice(index - at, index - at + (page?.items.length ?? 0)));
        }
      }),
      { numRuns: 50 },
    );
  });

  it('is the same when it is followed, however it grows', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, fc.array(fc.nat(400), { minLength: 1, maxLength: 20 }), async (content, cuts) => {
        const file = newFile(kind);
        await writeFile(file.path, '');
        const source = sourceOf(file);
        const shown = new Shown();
        shown.take({ type: 'snapshot', snapshot: await source.snapshot() });
        // Byte by byte only where that is soon over: each step reads the whole.
        const least = Math.ceil(content.length / MAX_STEPS);
        for (let at = 0, turn = 0; at < content.length; turn++) {
          const next = at + least + (cuts[turn % cuts.length] ?? 0) * (content.length > 20_000 ? 40 : 1);
          await appendFile(file.path, content.subarray(at, next));
          at = next;
          shown.take(await source.poll());
          expect(shown.items).toEqual((await sourceOf(file).snapshot()).window.items);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('gives every body whole', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, async (content) => {
        const file = newFile(kind);
        await writeFile(file.path, content);
        const source = sourceOf(file);
        for (const item of (await source.snapshot()).window.items) {
          if (item.kind !== 'text' && item.kind !== 'thinking' && item.kind !== 'user') continue;
          if (item.body.ref === null) continue;
          const pieces: string[] = [];
          for await (const piece of source.body(item.body.ref)) pieces.push(piece);
          expect(pieces.join('').length).toBe(item.body.length);
          const isStream = item.key.endsWith('/live');
          expect(isStream ? pieces.join('').endsWith(item.body.text) : pieces.join('').startsWith(item.body.text)).toBe(
            true,
          );
        }
      }),
      { numRuns: 60 },
    );
  });
});
