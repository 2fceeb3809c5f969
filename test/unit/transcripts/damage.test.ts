/** Files that are not as they should be: said where it is, and never a crash. */
import { appendFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TranscriptSource } from '../../../src/core/transcripts/index.ts';
import type { PanelItem, SourceContext, SourceFile } from '../../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { line } from '../builders/transcripts.ts';

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
});
afterEach(() => folder.remove());

const LIVE: SourceContext = { live: true, steering: [] };
const OVER: SourceContext = { live: false, steering: [] };
const file = (kind: SourceFile['kind'], name = 'a.jsonl'): SourceFile => ({ kind, path: join(folder.path, name) });
const mirror = (context = LIVE) => new TranscriptSource(file('mirror'), context);
const session = (context = OVER) => new TranscriptSource(file('session'), context);

const says = (text: string, role: 'user' | 'assistant' = 'assistant') =>
  line({ type: 'message', t: 1, role, blocks: [{ type: 'text', text }] });
const header = line({ type: 'session', version: 3, id: 's', timestamp: '2026-11-30T00:00:00Z', cwd: '/where' });
const entry = (id: string, parentId: string | null, text: string, more: object = {}) =>
  line({
    type: 'message',
    id,
    parentId,
    timestamp: '2026-11-30T00:00:00Z',
    message: { role: 'user', content: text },
    ...more,
  });

/** Items in short: kinds, texts, how much is missing. */
const brief = (items: readonly PanelItem[]) =>
  items
    .filter(({ kind }) => kind !== 'turn')
    .map((item) => {
      if (item.kind === 'gap') return `gap ${item.reason} ${item.records}`;
      return 'body' in item ? item.body.text : item.kind;
    });
const shown = async (source: TranscriptSource) => brief((await source.snapshot()).window.items);

describe('a transcript', () => {
  it.each(['mirror', 'session'] as const)('that is not there, a folder, or empty has no items (%s)', async (kind) => {
    const missing = await new TranscriptSource(file(kind), LIVE).snapshot();
    expect(missing).toMatchObject({ there: false, window: { items: [], before: null, after: null } });
    expect((await new TranscriptSource({ kind, path: folder.path }, LIVE).snapshot()).window.items).toEqual([]);
    await writeFile(file(kind).path, '');
    const empty = new TranscriptSource(file(kind), LIVE);
    expect(await empty.snapshot()).toMatchObject({ there: true, window: { items: [] } });
    expect(await empty.page('tail', null)).toMatchObject({ items: [] });
  });

  it('tells damaged lines together, where they are', async () => {
    await writeFile(
      file('mirror').path,
      `${says('one')}not json\n{"type":"note"}\n${says('two')}\0\0\n${says('three')}`,
    );
    expect(await shown(mirror())).toEqual(['one', 'gap damaged 2', 'two', 'gap damaged 1', 'three']);
    expect((await mirror().snapshot()).whole).toBe(false);
  });

  it('waits for the end of a last line while it is written, and gives it up when nobody writes any more', async () => {
    const half = says('two').slice(0, 30);
    await writeFile(file('mirror').path, says('one') + half);
    const source = mirror();
    expect(await shown(source)).toEqual(['one']);
    const update = await source.learn(OVER);
    expect(update?.type === 'snapshot' && brief(update.snapshot.window.items)).toEqual(['one', 'gap damaged 1']);
    await appendFile(file('mirror').path, says('two').slice(30));
    const healed = await source.poll();
    expect(healed?.type === 'snapshot' && brief(healed.snapshot.window.items)).toEqual(['one', 'two']);
  });

  it('is shown as it is, with characters that break others', async () => {
    const text = 'line\u2028separator \u2029 nul \0 \ud83e\udd8a 漢字';
    await writeFile(
      file('mirror').path,
      Buffer.concat([Buffer.from(says(text)), Buffer.from([0x7b, 0xff, 0xfe, 0x0a])]),
    );
    expect(await shown(mirror())).toEqual([text, 'gap damaged 1']);
    const broken = Buffer.from(says('aXb'));
    broken[broken.indexOf('X')] = 0xff;
    await writeFile(file('mirror').path, broken);
    expect(await shown(mirror())).toEqual(['a\ufffdb']);
  });

  it('of random bytes is one gap', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7919 + (index >> 3)) & 255)).map(
      (byte) => (byte === 10 ? 11 : byte),
    );
    await writeFile(file('session').path, bytes);
    expect(await shown(session())).toEqual(['gap damaged 1']);
  });

  it('that became shorter or another file is shown anew', async () => {
    const { path } = file('mirror');
    await writeFile(path, says('one') + says('two'));
    const source = mirror();
    await source.snapshot();
    await truncate(path, says('one').length);
    const shorter = await source.poll();
    expect(shorter?.type === 'snapshot' && brief(shorter.snapshot.window.items)).toEqual(['one']);
    await writeFile(`${path}.new`, says('another'));
    await rename(`${path}.new`, path);
    const replaced = await source.poll();
    expect(replaced?.type === 'snapshot' && brief(replaced.snapshot.window.items)).toEqual(['another']);
    // Written anew in place, and longer than before.
    await writeFile(path, says('something else') + says('and more'));
    const rewritten = await source.poll();
    expect(rewritten?.type === 'snapshot' && brief(rewritten.snapshot.window.items)).toEqual([
      'something else',
      'and more',
    ]);
    expect(await source.poll()).toBeUndefined();
  });

  it('refuses cursors and references that are none of its own', async () => {
    await writeFile(file('mirror').path, says('one') + says('two'));
    const source = mirror();
    await source.snapshot();
    for (const cursor of ['', 'x', '0:5:0', '7:0:0', '0:999999:0', '0:0', '-1:0:0', '0:1e3:0'])
      expect(await source.page('before', cursor), cursor).toBeUndefined();
    for (const ref of ['', 'x', '0:5/b0', '9:0/b0', '0:0/b9', '0:0/z', '0:0/sz1', '0:99999/r']) {
      const pieces = [];
      for await (const piece of source.body(ref)) pieces.push(piece);
      expect(pieces, ref).toEqual([]);
    }
  });
});

describe('a mirror', () => {
  it('says where a limit has dropped its middle', async () => {
    await writeFile(file('mirror').path, says('head'));
    await writeFile(join(folder.path, 'a.tail-3.jsonl'), says('three'));
    await writeFile(join(folder.path, 'a.tail-4.jsonl'), says('four'));
    expect(await shown(mirror())).toEqual(['head', 'gap limit null', 'three', 'four']);
    expect((await mirror().snapshot()).whole).toBe(false);
    const small = new TranscriptSource(file('mirror'), LIVE, { limits: { items: 1, chars: 1 } });
    let { window } = await small.snapshot();
    const all = brief(window.items);
    while (window.before) {
      const page = await small.page('before', window.before);
      if (!page) throw new Error('refused');
      window = page;
      all.unshift(...brief(page.items));
    }
    expect(all).toEqual(['head', 'gap limit null', 'three', 'four']);
  });

  it('goes on in its next segment', async () => {
    await writeFile(file('mirror').path, says('head'));
    const source = mirror();
    await source.snapshot();
    await writeFile(join(folder.path, 'a.tail-1.jsonl'), says('one'));
    const update = await source.poll();
    expect(update?.type === 'changes' && brief(update.changes.added)).toEqual(['one']);
    await writeFile(join(folder.path, 'a.tail-3.jsonl'), says('three'));
    const later = await source.poll();
    expect(later?.type === 'changes' && brief(later.changes.added)).toEqual(['gap limit null', 'three']);
  });
});

describe('a session', () => {
  it('says that its header is missing', async () => {
    await writeFile(file('session').path, entry('a', null, 'one') + entry('b', 'a', 'two'));
    expect(await shown(session())).toEqual(['gap damaged null', 'one', 'two']);
    await writeFile(file('session').path, header + entry('a', null, 'one'));
    expect(await session().snapshot()).toMatchObject({ cwd: '/where', whole: true });
  });

  it('shows the branch its last entry stands on', async () => {
    const content = [
      entry('a', null, 'root'),
      entry('b', 'a', 'left'),
      entry('c', 'b', 'left on'),
      entry('d', 'a', 'right'),
      entry('e', 'd', 'right on'),
    ];
    await writeFile(file('session').path, header + content.join(''));
    const source = session();
    expect(await shown(source)).toEqual(['root', 'right', 'right on']);
    // Somebody goes back to the other branch.
    await appendFile(file('session').path, entry('f', 'c', 'left again'));
    const update = await source.poll();
    expect(update?.type === 'snapshot' && brief(update.snapshot.window.items)).toEqual([
      'root',
      'left',
      'left on',
      'left again',
    ]);
  });

  it('shows everything where the chain is broken, and what has no ids', async () => {
    await writeFile(
      file('session').path,
      header + entry('a', null, 'one') + entry('c', 'lost', 'two') + entry('d', 'c', 'three'),
    );
    expect(await shown(session())).toEqual(['one', 'two', 'three']);
    const old = (text: string) => line({ type: 'message', timestamp: 'x', message: { role: 'user', content: text } });
    await writeFile(file('session').path, header + old('one') + old('two'));
    expect(await shown(session())).toEqual(['one', 'two']);
  });

  it('shows a line that is too long to be decoded in part, and gives the whole in pieces', async () => {
    const text = 'x'.repeat(17 * 1024 * 1024);
    const long = entry('b', 'a', text);
    const call = line({
      type: 'message',
      id: 'c',
      parentId: 'b',
      timestamp: 't',
      message: { role: 'assistant', content: [{ type: 'toolCall', id: 'k', name: 'bash', arguments: {} }] },
    });
    const result = line({
      type: 'message',
      id: 'd',
      parentId: 'c',
      timestamp: 't',
      message: {
        role: 'toolResult',
        toolCallId: 'k',
        toolName: 'bash',
        content: [{ type: 'text', text }],
        isError: true,
      },
    });
    await writeFile(
      file('session').path,
      header + entry('a', null, 'one') + long + call + result + entry('e', 'd', 'end'),
    );
    const source = session();
    const { items } = (await source.snapshot()).window;
    expect(items.map(({ kind }) => kind)).toEqual(['user', 'user', 'tool', 'turn', 'user']);
    const [, cut, tool] = items;
    if (cut?.kind !== 'user' || tool?.kind !== 'tool') throw new Error('other items');
    expect(cut.body.text.length).toBeLessThan(10_000);
    expect(cut.body.length).toBe(long.length - 1);
    expect(tool).toMatchObject({ state: 'failed', output: { length: result.length - 1 } });
    let length = 0;
    let longest = 0;
    for await (const piece of source.body(cut.body.ref ?? '')) {
      length += piece.length;
      longest = Math.max(longest, piece.length);
    }
    expect(length).toBe(long.length - 1);
    expect(longest).toBeLessThanOrEqual(256 * 1024);
  });
});
