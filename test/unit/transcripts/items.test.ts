/** What the lines of a transcript become, one kind after the other. */
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FindProgress, TranscriptSource } from '../../../src/core/transcripts/index.ts';
import type { FindHit, PanelItem, SourceContext, TranscriptEntry } from '../../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { line, someUsage } from '../builders/transcripts.ts';

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir();
});
afterEach(() => folder.remove());

const LIVE: SourceContext = { live: true, steering: [] };
const path = () => join(folder.path, 'transcript.jsonl');

async function ofMirror(entries: TranscriptEntry[], context = LIVE): Promise<PanelItem[]> {
  await writeFile(path(), entries.map(line).join(''));
  return (await new TranscriptSource({ kind: 'mirror', path: path() }, context).snapshot()).window.items;
}

async function ofSession(entries: object[]): Promise<PanelItem[]> {
  const lines = entries.map((entry, index) =>
    line({
      id: `e${index}`,
      parentId: index === 0 ? null : `e${index - 1}`,
      timestamp: '1970-01-01T00:00:01Z',
      ...entry,
    }),
  );
  await writeFile(path(), line({ type: 'session', id: 's', cwd: '/c' }) + lines.join(''));
  return (await new TranscriptSource({ kind: 'session', path: path() }, LIVE).snapshot()).window.items;
}

const user = (text: string): TranscriptEntry => ({
  type: 'message',
  t: 1,
  role: 'user',
  blocks: [{ type: 'text', text }],
});
const answer = (blocks: Extract<TranscriptEntry, { type: 'message' }>['blocks']): TranscriptEntry => ({
  type: 'message',
  t: 2,
  role: 'assistant',
  blocks,
  model: 'p/m',
  stopReason: 'toolUse',
  usage: someUsage,
});
const call = (args: object, name = 'bash') => ({
  type: 'toolCall' as const,
  id: 'k',
  name,
  arguments: JSON.stringify(args),
});
const end = (more: Partial<Extract<TranscriptEntry, { type: 'tool.end' }>> = {}): TranscriptEntry => ({
  type: 'tool.end',
  t: 9,
  id: 'k',
  name: 'bash',
  text: 'out',
  isError: false,
  ...more,
});

describe('of a mirror', () => {
  it('an answer is its blocks and what it cost', async () => {
    const items = await ofMirror([
      user('Do it.'),
      answer([
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'yes' },
        { type: 'image', mimeType: 'image/png' },
      ]),
    ]);
    expect(items).toMatchObject([
      { kind: 'user', origin: 'task', body: { text: 'Do it.', length: 6, ref: null } },
      { kind: 'thinking', body: { text: 'hm' }, streaming: false },
      { kind: 'text', body: { text: 'yes' }, model: 'p/m' },
      { kind: 'image', mimeType: 'image/png' },
      { kind: 'turn', model: 'p/m', stopReason: 'toolUse', error: null, usage: someUsage },
    ]);
  });

  it('a call, its start and its end are one item', async () => {
    const begun: TranscriptEntry[] = [
      answer([call({ command: 'ls\n-l' })]),
      { type: 'tool.start', t: 5, id: 'k', name: 'bash', arguments: '{}' },
      { type: 'tool.update', t: 6, id: 'k', text: 'so far' },
    ];
    const [running] = await ofMirror(begun);
    expect(running).toMatchObject({
      kind: 'tool',
      title: 'ls -l',
      state: 'running',
      startedAt: 5,
      durationMs: null,
      output: { text: 'so far' },
    });
    const [done] = await ofMirror([...begun, end()]);
    expect(done).toMatchObject({
      key: running?.key,
      state: 'done',
      durationMs: 4,
      output: { text: 'out' },
      arguments: { text: '{\n  "command": "ls\\n-l"\n}' },
    });
    expect((await ofMirror([...begun, end({ isError: true, durationMs: 2 })]))[0]).toMatchObject({
      state: 'failed',
      durationMs: 2,
    });
  });

  it('a call without an end is unfinished when the conversation goes on, or nobody writes any more', async () => {
    const begun = [answer([call({ command: 'ls' })])];
    expect((await ofMirror([...begun, user('next')]))[0]).toMatchObject({ state: 'unfinished' });
    expect((await ofMirror(begun, { live: false, steering: [] }))[0]).toMatchObject({ state: 'unfinished' });
  });

  it('an edit shows what it changed: as Pi tells it, else as it was asked for', async () => {
    const edit = answer([call({ path: 'a.ts', edits: [{ oldText: 'one', newText: 'two' }] }, 'edit')]);
    const [told] = await ofMirror([edit, end({ diff: '   ...\n 5 same\n-6 one\n+6 two\n+7   three' })]);
    expect(told).toMatchObject({
      file: { path: 'a.ts', line: 6 },
      diff: {
        cut: false,
        lines: [
          { kind: 'context', text: '...' },
          { kind: 'context', text: 'same' },
          { kind: 'removed', text: 'one' },
          { kind: 'added', text: 'two' },
          { kind: 'added', text: '  three' },
        ],
      },
    });
    const [asked] = await ofMirror([edit, end()]);
    expect(asked).toMatchObject({
      diff: {
        lines: [
          { kind: 'removed', text: 'one' },
          { kind: 'added', text: 'two' },
        ],
      },
    });
    expect((await ofMirror([edit, end({ isError: true })]))[0]).toMatchObject({ diff: null });
    const [written] = await ofMirror([answer([call({ path: 'b', content: 'x\ny\n' }, 'write')]), end()]);
    expect(written).toMatchObject({
      diff: {
        lines: [
          { kind: 'added', text: 'x' },
          { kind: 'added', text: 'y' },
        ],
      },
    });
    expect((await ofMirror([answer([call({ path: 'b', offset: 7 }, 'read')]), end()]))[0]).toMatchObject({
      file: { path: 'b', line: 7 },
      diff: null,
    });
  });

  it('streamed text is there until its message comes; of a long one the end', async () => {
    const piece = (text: string): TranscriptEntry => ({ type: 'delta', t: 3, kind: 'text', index: 0, text });
    const live = [user('go'), piece('Two '), piece('boards')];
    expect((await ofMirror(live)).slice(1)).toMatchObject([
      { kind: 'text', streaming: true, body: { text: 'Two boards' } },
    ]);
    expect(await ofMirror([...live, answer([{ type: 'text', text: 'Two boards.' }])])).toMatchObject([
      { kind: 'user' },
      { kind: 'text', streaming: false },
      { kind: 'turn' },
    ]);
    // The child was killed: what it had said stays.
    expect((await ofMirror([...live, user('go on')])).slice(1)).toMatchObject([
      { kind: 'text', streaming: false },
      { kind: 'user', origin: 'follow-up' },
    ]);
    const [, long] = await ofMirror([
      user('go'),
      ...Array.from({ length: 30 }, (_, index) => piece(`${index}`.padEnd(1000, '.'))),
    ]);
    if (long?.kind !== 'text') throw new Error('no text');
    expect(long.body.length).toBe(30_000);
    expect((long.body.length - long.body.text.length) % 8192).toBe(0);
    expect(long.body.text.endsWith('29'.padEnd(1000, '.'))).toBe(true);
    expect(long.body.ref).not.toBeNull();
  });

  it('a message of a person is told as it was sent', async () => {
    const steering = [
      { mode: 'steer' as const, preview: 'stop that' },
      { mode: 'follow-up' as const, preview: 'then this' },
    ];
    const items = await ofMirror(
      [
        user('task'),
        user('stop\nthat'),
        user('then this'),
        { type: 'message', t: 1, role: 'custom', blocks: [{ type: 'text', text: 'c' }] },
      ],
      { live: true, steering },
    );
    expect(items.map((item) => item.kind === 'user' && item.origin)).toEqual(['task', 'steer', 'follow-up', 'context']);
  });

  it('learns later how a message was sent', async () => {
    await writeFile(path(), line(user('task')) + line(user('hurry')) + line(answer([])));
    const source = new TranscriptSource({ kind: 'mirror', path: path() }, LIVE);
    await source.snapshot();
    const update = await source.learn({ live: true, steering: [{ mode: 'steer', preview: 'hurry' }] });
    expect(update).toMatchObject({
      type: 'changes',
      changes: { changed: [{ kind: 'user', origin: 'steer' }], added: [] },
    });
  });

  it('retries, compactions and notes are told', async () => {
    const items = await ofMirror([
      { type: 'retry', t: 1, attempt: 1, maxAttempts: 3, delayMs: 50, error: 'busy' },
      { type: 'compaction', t: 2, phase: 'start', reason: 'threshold' },
      { type: 'compaction', t: 3, phase: 'end', reason: 'threshold', summary: 'short' },
      { type: 'compaction', t: 4, phase: 'start', reason: 'manual' },
      { type: 'note', t: 5, text: 'the end' },
    ]);
    expect(items).toMatchObject([
      { kind: 'retry', attempt: 1, error: 'busy' },
      { kind: 'compaction', running: false, summary: { text: 'short' } },
      { kind: 'compaction', running: true, summary: null },
      { kind: 'note', text: 'the end' },
    ]);
  });
});

describe('of a session', () => {
  it('everything that Pi shows is shown', async () => {
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: { total: 0.5 } };
    const items = await ofSession([
      { type: 'session_info', name: 'mine' },
      { type: 'model_change', provider: 'p', modelId: 'm' },
      { type: 'thinking_level_change', thinkingLevel: 'high' },
      { type: 'message', message: { role: 'system', content: 'hidden' } },
      { type: 'message', message: { role: 'user', content: 'hello', timestamp: 7 } },
      {
        type: 'message',
        message: {
          role: 'assistant',
          provider: 'p',
          model: 'm',
          content: [
            { type: 'text', text: 'x' },
            { type: 'toolCall', id: 'k', name: 'edit', arguments: { path: 'f' } },
          ],
          usage,
          stopReason: 'toolUse',
        },
      },
      { type: 'custom', customType: 'c', data: { big: true } },
      {
        type: 'message',
        message: {
          role: 'toolResult',
          toolCallId: 'k',
          toolName: 'edit',
          content: [{ type: 'text', text: 'ok' }],
          details: { diff: '-3 a\n+3 b' },
          isError: false,
          durationMs: 4,
          timestamp: 20,
        },
      },
      { type: 'message', message: { role: 'assistant', content: [], stopReason: 'error', errorMessage: 'too hot' } },
      { type: 'message', message: { role: 'bashExecution', command: 'ls', output: 'files', exitCode: 1 } },
      { type: 'compaction', summary: 'in short', firstKeptEntryId: 'e1' },
      { type: 'branch_summary', fromId: 'e0', summary: 'left' },
      { type: 'custom_message', customType: 'c', content: 'told', display: true },
      { type: 'custom_message', customType: 'c', content: 'not told', display: false },
      { type: 'of a later time' },
      { type: 'label', targetId: 'e0', label: 'here' },
    ]);
    expect(items).toMatchObject([
      { kind: 'note', text: 'Name: mine' },
      { kind: 'note', text: 'Model: p/m' },
      { kind: 'user', origin: 'task', t: 7, body: { text: 'hello' } },
      { kind: 'text', model: 'p/m', t: 1000 },
      {
        kind: 'tool',
        state: 'done',
        durationMs: 4,
        startedAt: 16,
        file: { path: 'f', line: 3 },
        diff: {
          lines: [
            { kind: 'removed', text: 'a' },
            { kind: 'added', text: 'b' },
          ],
        },
        output: { text: 'ok' },
      },
      { kind: 'turn', usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: 0.5 } },
      { kind: 'turn', error: 'too hot', usage: null },
      { kind: 'tool', name: 'bash', title: 'ls', state: 'failed', output: { text: 'files' } },
      { kind: 'compaction', running: false, summary: { text: 'in short' } },
      { kind: 'user', origin: 'context', body: { text: 'left' } },
      { kind: 'user', origin: 'context', body: { text: 'told' } },
    ]);
    expect(items).toHaveLength(11);
  });
});

it('a session that nobody is known to write goes on while it grows, and not for ever after', async () => {
  const begun = {
    type: 'message',
    id: 'b',
    parentId: 'a',
    message: { role: 'assistant', content: [{ type: 'toolCall', id: 'k', name: 'bash', arguments: {} }] },
  };
  const asked = { type: 'message', id: 'a', parentId: null, message: { role: 'user', content: 'go' } };
  await writeFile(path(), line({ type: 'session', id: 's', cwd: '/c' }) + line(asked));
  let now = 0;
  const source = new TranscriptSource(
    { kind: 'session', path: path() },
    { live: null, steering: [] },
    { now: () => now },
  );
  const stateIn = (update: Awaited<ReturnType<TranscriptSource['poll']>>) => {
    const items = update?.type === 'snapshot' ? update.snapshot.window.items : [];
    return items.flatMap((item) => (item.kind === 'tool' ? [item.state] : []));
  };
  await source.snapshot();
  await appendFile(path(), line(begun));
  expect(stateIn(await source.poll())).toEqual(['running']);
  now += 9 * 60_000;
  expect(await source.poll()).toBeUndefined();
  now += 2 * 60_000;
  expect(stateIn(await source.poll())).toEqual(['unfinished']);
  expect(await source.poll()).toBeUndefined();
});

async function find(source: TranscriptSource, query: string, matchCase = false) {
  const hits: FindHit[] = [];
  let last: FindProgress | undefined;
  for await (const progress of source.find(query, matchCase, new AbortController().signal)) {
    hits.push(...progress.hits);
    last = progress;
  }
  return { hits, last };
}

describe('looking for text', () => {
  const items: TranscriptEntry[] = [
    user('Where is the Fox?'),
    { type: 'delta', t: 1, kind: 'text', index: 0, text: 'a fox that is gone' },
    answer([{ type: 'text', text: `${'.'.repeat(20_000)} the fox "is" here` }, call({ command: 'echo Straße' })]),
    end({ text: 'fox\nFOX\tfox' }),
  ];

  it('finds it in the whole of every item, with a cursor to go there', async () => {
    const all = await ofMirror(items);
    const source = new TranscriptSource({ kind: 'mirror', path: path() }, LIVE);
    await source.snapshot();
    const { hits, last } = await find(source, 'fox');
    expect(last).toMatchObject({ done: true, cut: false });
    expect(last?.scanned).toBe(last?.size);
    const kindOf = (key: string) => all.find((item) => item.key === key)?.kind;
    expect(hits.map(({ key }) => kindOf(key))).toEqual(['user', 'text', 'tool', 'tool', 'tool']);
    for (const { excerpt, at, length, cursor, key } of hits) {
      expect(excerpt.slice(at, at + length).toLowerCase()).toBe('fox');
      expect((await source.page('around', cursor))?.items.some((item) => item.key === key)).toBe(true);
    }
    expect((await find(source, 'FOX', true)).hits).toHaveLength(1);
    expect((await find(source, 'the fox "is"')).hits).toHaveLength(1);
    expect((await find(source, 'straße')).hits).toHaveLength(1);
    expect((await find(source, '.*')).hits).toHaveLength(0);
    expect((await find(source, 'that is gone')).hits).toHaveLength(0);
  });

  it('stops at its limit and says so, and ends when nobody wants it any more', async () => {
    await ofMirror([user('ab '.repeat(600))]);
    const source = new TranscriptSource({ kind: 'mirror', path: path() }, LIVE);
    await source.snapshot();
    const { hits, last } = await find(source, 'ab');
    expect(hits).toHaveLength(500);
    expect(last).toMatchObject({ done: true, cut: true });
    const cancelled = new AbortController();
    cancelled.abort();
    await expect(source.find('ab', false, cancelled.signal).next()).rejects.toThrow();
  });
});

describe('as Markdown', () => {
  it('it is whole, and nothing in it ends the block it stands in', async () => {
    const long = `${'`'.repeat(5)}\n${'line\n'.repeat(9000)}`;
    await ofMirror([
      user('Do it.'),
      answer([{ type: 'text', text: 'Yes.' }, call({ command: 'cat' })]),
      end({ text: long }),
    ]);
    const source = new TranscriptSource({ kind: 'mirror', path: path() }, LIVE);
    await source.snapshot();
    let text = '';
    for await (const piece of source.markdown('A title')) text += piece;
    expect(text).toContain('# A title\n\n## Task\n\nDo it.\n\nYes.\n\n### `bash` `cat` (done');
    expect(text).toContain(`${'`'.repeat(6)}text\n${long}${'`'.repeat(6)}\n`);
  });
});
