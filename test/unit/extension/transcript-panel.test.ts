/** What a panel may show, what its page may do, and in what order the page is told things. */
import { join, sep } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newRunId } from '../../../src/core/runs/index.ts';
import { Outbox } from '../../../src/extension/panels/transcript/outbox.ts';
import { pageHtml } from '../../../src/extension/panels/transcript/page-html.ts';
import { restoredSubject, subjectKey } from '../../../src/extension/panels/transcript/subject.ts';
import type { PanelHead, ToTranscriptPanel } from '../../../src/protocol/index.ts';

const root = join(sep, 'store', 'projects');
const run = join(root, 'a-project', 'runs', newRunId());
const restored = (subject: object, more: object = {}) =>
  restoredSubject(root, { version: 1, subject, anchor: null, ...more });

describe('what is restored', () => {
  it('is a run of the store or a session file', () => {
    expect(restored({ kind: 'run', directory: run, child: 1 })).toEqual({ kind: 'run', directory: run, child: 1 });
    const file = join(sep, 'some', 'where', 'a.jsonl');
    expect(restored({ kind: 'session', file })).toEqual({ kind: 'session', file });
  });

  it.each([
    { kind: 'run', directory: join(sep, 'elsewhere', 'runs', newRunId()), child: 1 },
    { kind: 'run', directory: `${run}${sep}..${sep}${newRunId()}`, child: 1 },
    { kind: 'run', directory: join(root, 'a-project', 'runs', 'notes'), child: 1 },
    { kind: 'run', directory: join(run, 'children'), child: 1 },
    { kind: 'run', directory: 'relative', child: 1 },
    { kind: 'run', directory: run, child: 0 },
    { kind: 'run', directory: run, child: 1.5 },
    { kind: 'session', file: join(sep, 'etc', 'passwd') },
    { kind: 'session', file: 'a.jsonl' },
    { kind: 'session', file: `${sep}a${sep}..${sep}b.jsonl` },
    { kind: 'other' },
  ])('is nothing else: %o', (subject) => {
    expect(restored(subject)).toBeUndefined();
  });

  it('is nothing of another version, and nothing that is no state', () => {
    expect(restored({ kind: 'run', directory: run, child: 1 }, { version: 2 })).toBeUndefined();
    for (const state of [undefined, null, 7, 'x', {}]) expect(restoredSubject(root, state)).toBeUndefined();
  });

  it('is told apart by what it shows', () => {
    const file = join(sep, 'a.jsonl');
    expect(subjectKey({ kind: 'session', file })).toBe(subjectKey({ kind: 'session', file }));
    expect(subjectKey({ kind: 'run', directory: run, child: 1 })).not.toBe(
      subjectKey({ kind: 'run', directory: run, child: 2 }),
    );
  });
});

describe('the page', () => {
  const html = (words: Record<string, string> = {}, title = 'T') =>
    pageHtml({
      cspSource: 'https://csp',
      nonce: 'abc123',
      script: 'https://csp/transcript.js?a&b',
      style: 'https://csp/transcript.css',
      language: 'de',
      title,
      subject: { kind: 'session', file: '/a.jsonl' },
      words,
    });

  it('runs its own script and nothing else', () => {
    const text = html();
    const policy = /Content-Security-Policy" content="([^"]+)"/.exec(text)?.[1];
    expect(policy).toBe(
      "default-src 'none'; script-src 'nonce-abc123'; style-src https://csp; font-src https://csp; base-uri 'none'; form-action 'none'",
    );
    expect(text).not.toContain('unsafe');
    expect(text.match(/<script(?![^>]*nonce="abc123")/g)).toBeNull();
    expect(text).not.toMatch(/ style=| on\w+=/);
    expect(text).toContain('<html lang="de">');
    expect(text).toContain('src="https://csp/transcript.js?a&amp;b"');
  });

  it('cannot be broken out of by what it is given', () => {
    const text = html({ find: '</script><script>alert(1)</script>' }, '</title><b>');
    expect(text.match(/<\/script>/g)).toHaveLength(3);
    expect(text).not.toContain('<b>');
    const words = /id="words"[^>]*>(.*)<\/script>/.exec(text)?.[1] ?? '';
    expect(JSON.parse(words)).toEqual({ find: '</script><script>alert(1)</script>' });
  });
});

describe('the outbox', () => {
  let sent: ToTranscriptPanel[];
  let outbox: Outbox;
  /** Lets the message go that is on its way. */
  let taken: () => void;

  beforeEach(() => {
    vi.useFakeTimers();
    sent = [];
    outbox = new Outbox((message) => {
      sent.push(message);
      return new Promise((resolve) => {
        taken = () => resolve(true);
      });
    });
  });
  afterEach(() => vi.useRealTimers());

  const head = (title: string) => ({ title }) satisfies Partial<PanelHead>;
  const withTitle = (title: string): PanelHead => Object.assign(Object.create(null), head(title));
  const delta = (key: string): ToTranscriptPanel => ({
    type: 'delta',
    changed: [],
    grown: [],
    removed: [key],
    added: [],
  });
  const next = async () => {
    taken();
    await vi.advanceTimersByTimeAsync(16);
  };

  it('says nothing before the page is ready, and lets whoever waits go on', async () => {
    const onSent = vi.fn();
    outbox.send(delta('a'), 1, onSent);
    await vi.advanceTimersByTimeAsync(100);
    expect(sent).toEqual([]);
    expect(onSent).toHaveBeenCalledOnce();
  });

  it('says one thing a frame, in order, and the next only when the last was taken', async () => {
    outbox.open();
    const onSent = vi.fn();
    outbox.send(delta('a'), 1, onSent);
    outbox.send(delta('b'));
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent).toMatchObject([{ removed: ['a'] }]);
    expect(onSent).not.toHaveBeenCalled();
    await next();
    expect(onSent).toHaveBeenCalledOnce();
    expect(sent).toMatchObject([{ removed: ['a'] }, { removed: ['b'] }]);
  });

  it('puts the newest head into the next change, or sends it alone', async () => {
    outbox.open();
    outbox.send(delta('a'));
    await vi.advanceTimersByTimeAsync(1);
    outbox.sendHead(withTitle('old'));
    outbox.sendHead(withTitle('new'));
    outbox.send(delta('b'));
    await next();
    expect(sent[1]).toMatchObject({ removed: ['b'], head: { title: 'new' } });
    outbox.sendHead(withTitle('alone'));
    await next();
    expect(sent[2]).toMatchObject({ type: 'delta', head: { title: 'alone' }, added: [] });
    await next();
    expect(sent).toHaveLength(3);
  });

  it('gives a page time for much', async () => {
    outbox.open();
    outbox.send(delta('a'), 1_000_000);
    outbox.send(delta('b'));
    await vi.advanceTimersByTimeAsync(0);
    await next();
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(40);
    expect(sent).toHaveLength(2);
  });

  it('forgets what a page that is gone was to hear', async () => {
    outbox.open();
    outbox.send(delta('a'));
    await vi.advanceTimersByTimeAsync(0);
    const onSent = vi.fn();
    outbox.send(delta('b'), 1, onSent);
    outbox.close();
    expect(onSent).toHaveBeenCalledOnce();
    outbox.open();
    outbox.send(delta('c'));
    await next();
    expect(sent).toMatchObject([{ removed: ['a'] }, { removed: ['c'] }]);
  });
});
