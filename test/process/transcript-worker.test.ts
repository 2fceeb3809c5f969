/** The thread that reads transcripts, as the extension starts it. */
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Reader,
  type SourceMessage,
  TranscriptReaders,
} from '../../src/extension/panels/transcript/transcript-reader.ts';
import { MAX_INLINE_CHARS, type PanelItem, type SourceFile } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { testBundles } from '../support/world.ts';
import { line } from '../unit/builders/transcripts.ts';

let script: string;
let folder: TempDir;
let readers: TranscriptReaders;
let trouble: string[];

beforeAll(async () => {
  script = join(await testBundles(), 'transcript-worker.mjs');
});
beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  trouble = [];
  readers = new TranscriptReaders(script, { words: { model: 'M {0}', name: 'N {0}' } }, (text) => trouble.push(text));
});
afterEach(async () => {
  readers.dispose();
  await folder.remove();
});

const path = (name = 'a.jsonl') => join(folder.path, name);
const says = (text: string) => line({ type: 'message', t: 1, role: 'user', blocks: [{ type: 'text', text }] });
const entry = (text: string) =>
  line({ type: 'message', id: 'a', parentId: null, timestamp: 't', message: { role: 'user', content: text } });
const header = line({ type: 'session', id: 's', cwd: '/c' });

const texts = (items: readonly PanelItem[]) => items.map((item) => ('body' in item ? item.body.text : item.kind));

/** Hears everything; takes snapshots and changes at once, or when it is told to. */
class Listener {
  readonly heard: SourceMessage[] = [];
  shown: string[] = [];
  readonly reader: Reader;

  constructor(files: SourceFile[], options: { live?: boolean; wanted?: number; slow?: boolean; quiet?: boolean } = {}) {
    const { live = true, wanted = null, slow = false, quiet = false } = options;
    this.reader = readers.open({ files, wanted, context: { live, steering: [] }, quiet }, (message) => {
      this.heard.push(message);
      if (message.type === 'snapshot') this.shown = texts(message.window.items);
      if (message.type === 'delta') this.shown.push(...texts(message.added));
      if (!slow && (message.type === 'snapshot' || message.type === 'delta')) this.reader.send({ type: 'taken' });
    });
  }

  count(type: SourceMessage['type']): number {
    return this.heard.filter((message) => message.type === type).length;
  }

  last<T extends SourceMessage['type']>(type: T): Promise<Extract<SourceMessage, { type: T }>> {
    const fits = (message: SourceMessage): message is Extract<SourceMessage, { type: T }> => message.type === type;
    return waitFor(`a message ${type}`, () => this.heard.findLast(fits));
  }

  comesToShow(wanted: string[]): Promise<unknown> {
    return waitFor(`${wanted}`, () => JSON.stringify(this.shown) === JSON.stringify(wanted));
  }
}

const mirror: () => SourceFile = () => ({ kind: 'mirror', path: path() });
const session: () => SourceFile = () => ({ kind: 'session', path: path('s.jsonl') });

describe('the transcript worker', () => {
  it('shows a file that comes and grows', async () => {
    const listener = new Listener([mirror()]);
    await listener.last('snapshot');
    await writeFile(path(), says('one'));
    await listener.comesToShow(['one']);
    await appendFile(path(), says('two'));
    await listener.comesToShow(['one', 'two']);
    await writeFile(path(), '');
    await listener.comesToShow([]);
  });

  it('tells nothing more until the last has been taken, then everything at once', async () => {
    await writeFile(path(), says('0'));
    const listener = new Listener([mirror()], { slow: true });
    await listener.last('snapshot');
    for (let i = 1; i <= 20; i++) await appendFile(path(), says(`${i}`));
    // Answers come in order: what was to be told by itself would have come before this one.
    listener.reader.send({ type: 'page', request: 1, direction: 'tail', cursor: null });
    await listener.last('page');
    expect(listener.count('delta')).toBe(0);
    listener.reader.send({ type: 'taken' });
    await waitFor('all', () => listener.shown.length === 21);
    expect(listener.count('delta')).toBe(1);
    // Too much for one message: the end is shown afresh.
    await appendFile(path(), Array.from({ length: 3000 }, (_, index) => says(`more ${index}`)).join(''));
    listener.reader.send({ type: 'taken' });
    await waitFor('the end', () => listener.shown.at(-1) === 'more 2999');
    expect(listener.count('snapshot')).toBe(2);
    expect(listener.shown.length).toBeLessThan(100);
  });

  it('starts again after its death, and shows the same', async () => {
    await writeFile(path(), says('one'));
    const listener = new Listener([mirror()]);
    await listener.comesToShow(['one']);
    const before = listener.count('snapshot');
    // Nobody sends this: the thread ends of it, as it would of a bug.
    const broken: unknown = { type: 'page', request: 7, direction: 'sideways', cursor: null };
    const send: (message: never) => void = (message) => listener.reader.send(message);
    Reflect.apply(send, undefined, [broken]);
    await waitFor('a fresh snapshot', () => listener.count('snapshot') > before);
    expect(trouble.join('\n')).toContain('ended with code 1');
    expect(listener.heard.filter((message) => message.type === 'failed')).toMatchObject([
      { request: 7, error: { code: 'transcript_unreadable' } },
    ]);
    await appendFile(path(), says('two'));
    await listener.comesToShow(['one', 'two']);
  });

  it('chooses the mirror while it is whole, the session when it is not, and what was asked for', async () => {
    await writeFile(path(), says('mirror'));
    await writeFile(path('s.jsonl'), header + entry('session'));
    const files = [mirror(), session()];
    expect(await new Listener(files, { live: false }).last('snapshot')).toMatchObject({
      shown: 0,
      there: [true, true],
    });
    expect(await new Listener(files, { wanted: 1 }).last('snapshot')).toMatchObject({ shown: 1, cwd: '/c' });
    await appendFile(path(), 'damage\n');
    const listener = new Listener(files, { live: false });
    expect(await listener.last('snapshot')).toMatchObject({ shown: 1 });
    expect(listener.shown).toEqual(['session']);
    expect(
      await new Listener([{ kind: 'mirror', path: path('none.jsonl') }, session()], { live: false }).last('snapshot'),
    ).toMatchObject({ shown: 1, there: [false, true] });
    expect(
      await new Listener([mirror(), { kind: 'session', path: path('none.jsonl') }], { live: false }).last('snapshot'),
    ).toMatchObject({ shown: 0 });
    expect(
      await new Listener([{ kind: 'mirror', path: path('none.jsonl') }, session()]).last('snapshot'),
    ).toMatchObject({ shown: 0 });
  });

  it('gives bodies in pieces that wait for each other, up to a limit', async () => {
    const text = 'x'.repeat(1_000_000);
    await writeFile(path('s.jsonl'), header + entry(text));
    const listener = new Listener([session()]);
    const { window } = await listener.last('snapshot');
    const [item] = window.items;
    const ref = item?.kind === 'user' ? (item.body.ref ?? '') : '';
    listener.reader.send({ type: 'body', request: 1, ref, limit: 600_000 });
    await listener.last('body');
    listener.reader.send({ type: 'page', request: 2, direction: 'tail', cursor: null });
    await listener.last('page');
    expect(listener.count('body')).toBe(1);
    listener.reader.send({ type: 'more', request: 1 });
    await waitFor('the second piece', () => listener.count('body') === 2);
    listener.reader.send({ type: 'more', request: 1 });
    await waitFor('the end', () => listener.heard.some((message) => message.type === 'body' && message.done));
    const pieces = listener.heard.flatMap((message) => (message.type === 'body' ? [message.text ?? ''] : []));
    expect(pieces.join('')).toBe(text.slice(0, 600_000));
    listener.reader.send({ type: 'body', request: 3, ref: '0:7/b0', limit: 10 });
    await waitFor('that it is gone', () =>
      listener.heard.some((message) => message.type === 'body' && message.request === 3 && message.text === null),
    );
  });

  it('B61 sends of huge results only what is shown, and the rest when it is wanted', async () => {
    const result = (id: string, text: string) =>
      line({
        type: 'message',
        id: `r${id}`,
        parentId: null,
        timestamp: 't',
        message: {
          role: 'toolResult',
          toolCallId: id,
          toolName: 'bash',
          isError: false,
          content: [{ type: 'text', text }],
        },
      });
    const huge = 'j'.repeat(5 * 1024 * 1024);
    const many = Array.from({ length: 500 }, (_, n) => result(`c${n}`, `${n} ${'x'.repeat(50 * 1024)}`));
    await writeFile(path('s.jsonl'), [header, ...many, result('huge', huge)].join(''));
    const listener = new Listener([session()]);
    const { window } = await listener.last('snapshot');
    const outputs = window.items.flatMap((item) => (item.kind === 'tool' ? [item.output] : []));
    expect(outputs.at(-1)).toMatchObject({ length: huge.length, ref: expect.any(String) });
    for (const output of outputs) expect(output.text.length).toBeLessThanOrEqual(MAX_INLINE_CHARS);
    listener.reader.send({ type: 'body', request: 1, ref: outputs.at(-1)?.ref ?? '', limit: huge.length });
    await waitFor('the whole of it', () => {
      const pieces = listener.heard.flatMap((message) => (message.type === 'body' ? [message] : []));
      if (pieces.at(-1)?.done) return pieces.map(({ text }) => text).join('') === huge;
      if (pieces.length > 0) listener.reader.send({ type: 'more', request: 1 });
      return false;
    });
  });

  it('B62 reads a large session without the thread of the extension', async () => {
    const question = (n: number) =>
      line({
        type: 'message',
        id: `e${n}`,
        parentId: n === 0 ? null : `e${n - 1}`,
        timestamp: 't',
        message: { role: 'user', content: `${n} ${'q'.repeat(8000)}` },
      });
    await writeFile(path('s.jsonl'), header);
    for (let block = 0; block < 16; block++) {
      const questions = Array.from({ length: 1000 }, (_, n) => question(block * 1000 + n));
      await appendFile(path('s.jsonl'), questions.join(''));
    }
    const before = performance.eventLoopUtilization();
    const { window } = await new Listener([session()]).last('snapshot');
    const { active } = performance.eventLoopUtilization(before);
    expect(window.items.length).toBeGreaterThan(5);
    // Parsing these 130 MB here would take more than ten times as long.
    expect(active).toBeLessThan(250);
  });

  it('is only asked about: it says where something is and in what, and nothing else', async () => {
    const call = { type: 'toolCall', id: 'c', name: 'bash', arguments: '{"command":"grep needle"}' };
    const blocks = [{ type: 'text', text: 'The needle, again a needle.' }, call];
    await writeFile(path(), says('hay') + line({ type: 'message', t: 2, role: 'assistant', blocks }));
    const files: SourceFile[] = [
      { kind: 'mirror', path: path() },
      { kind: 'session', path: path('none.jsonl') },
    ];
    const listener = new Listener(files, { quiet: true, live: false });
    listener.reader.send({ type: 'find', request: 1, query: 'needle', matchCase: false });
    const found = await waitFor('the hits', () => {
      const messages = listener.heard.filter((message) => message.type === 'found');
      return messages.at(-1)?.done ? messages.flatMap(({ hits }) => hits) : undefined;
    });
    expect(found.map(({ kind, tool }) => [kind, tool])).toEqual([
      ['text', null],
      ['text', null],
      ['tool', 'bash'],
    ]);
    await appendFile(path(), says('more'));
    listener.reader.send({ type: 'find', request: 2, query: 'nothing', matchCase: false });
    await waitFor('the next answer', () => listener.heard.some((m) => m.type === 'found' && m.request === 2 && m.done));
    expect(listener.count('snapshot') + listener.count('delta')).toBe(0);
  });

  it('ends a search for the next one, and when it is told to', async () => {
    await writeFile(path(), Array.from({ length: 20_000 }, (_, index) => says(`word ${index}`)).join(''));
    const listener = new Listener([mirror()]);
    await listener.last('snapshot');
    listener.reader.send({ type: 'find', request: 1, query: 'nowhere', matchCase: false });
    listener.reader.send({ type: 'find', request: 2, query: 'word 19999', matchCase: false });
    await waitFor('the second', () =>
      listener.heard.some((message) => message.type === 'found' && message.request === 2 && message.done),
    );
    const found = listener.heard.flatMap((message) => (message.type === 'found' ? [message] : []));
    expect(found.some(({ request, done }) => request === 1 && done)).toBe(false);
    expect(found.filter(({ request }) => request === 2).flatMap(({ hits }) => hits)).toHaveLength(1);
  });

  it('writes Markdown, and says why it cannot', async () => {
    await writeFile(path(), says('one'));
    const listener = new Listener([mirror()]);
    listener.reader.send({ type: 'export', request: 1, path: path('out.md'), title: 'T' });
    await listener.last('exported');
    expect(await readFile(path('out.md'), 'utf8')).toBe('# T\n\n## Task\n\none\n\n');
    listener.reader.send({ type: 'export', request: 2, path: path('none/out.md'), title: 'T' });
    expect(await listener.last('failed')).toMatchObject({ request: 2, error: { code: 'transcript_unreadable' } });
  });
});
