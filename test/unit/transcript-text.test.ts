import { describe, expect, it } from 'vitest';
import { TranscriptText, visible } from '../../src/core/transcripts/index.ts';
import { type TranscriptEntry, visibleLine } from '../../src/protocol/index.ts';

const shown = (...entries: TranscriptEntry[]) => {
  const text = new TranscriptText();
  text.add(entries);
  return text.toString();
};

describe('text that others wrote', () => {
  it('B65 cannot steer a terminal or an editor', () => {
    expect(visible('\u001b[31mred\u001b[0m \u001b]0;title\u0007')).toBe('␛[31mred␛[0m ␛]0;title␇');
    expect(visible('a\u0000b\u0008c\u000bd\u000ce\u001ff\rg')).toBe('a␀b␈c␋d␌e␟f␍g');
    expect(visible('\u007f\u0080\u0085\u009b31m\u009f')).toBe('\\u007f\\u0080\\u0085\\u009b31m\\u009f');
    const marks = [
      '\u061c',
      '\u200e',
      '\u200f',
      '\u202a',
      '\u202b',
      '\u202c',
      '\u202d',
      '\u202e',
      '\u2066',
      '\u2067',
      '\u2068',
      '\u2069',
    ];
    for (const mark of marks)
      expect(visible(`a${mark}b`)).toBe(`a\\u0${mark.charCodeAt(0).toString(16)}b`.replace('u02', 'u2'));
  });

  it('is otherwise shown as it is, with plain line ends', () => {
    const text = 'tab\tline\nü 漢字 🦊 עברית العربية a\u200db';
    expect(visible(text)).toBe(text);
    expect(visible('a\r\nb\r\n')).toBe('a\nb\n');
  });

  it('stays on one line where it is a name', () => {
    expect(visibleLine('a\tb\nc\r\nd\u2028e\u001b[1m')).toBe('a␉b␊c␍␊d\\u2028e␛[1m');
    const name = 'ü 漢字 🦊 "quoted" a\u200db';
    expect(visibleLine(name)).toBe(name);
  });
});

describe('a transcript as text', () => {
  it('shows who said what, what tools did, and what happened besides', () => {
    const text = shown(
      { type: 'message', t: 1, role: 'user', blocks: [{ type: 'text', text: 'Mend it.\n' }] },
      {
        type: 'message',
        t: 2,
        role: 'assistant',
        model: 'fake/scripted',
        blocks: [
          { type: 'thinking', text: 'Hm.\nWell.' },
          { type: 'text', text: 'I will look.' },
          { type: 'toolCall', id: 'c', name: 'bash', arguments: '{"command":"ls"}' },
        ],
      },
      { type: 'tool.start', t: 3, id: 'c', name: 'bash', arguments: '{"command":"ls\n-l"}' },
      { type: 'tool.update', t: 4, id: 'c', text: 'half' },
      { type: 'tool.end', t: 5, id: 'c', name: 'bash', text: 'one\ntwo\n', isError: true, durationMs: 12 },
      { type: 'retry', t: 6, attempt: 1, maxAttempts: 3, delayMs: 50, error: '529' },
      { type: 'compaction', t: 7, phase: 'start', reason: 'threshold' },
      { type: 'compaction', t: 8, phase: 'end', reason: 'threshold', summary: 'short' },
      {
        type: 'message',
        t: 9,
        role: 'assistant',
        blocks: [{ type: 'image', mimeType: 'image/png' }],
        stopReason: 'length',
      },
      { type: 'message', t: 10, role: 'assistant', blocks: [], stopReason: 'error', error: '500' },
      { type: 'message', t: 11, role: 'assistant', blocks: [{ type: 'text', text: 'So far' }], stopReason: 'aborted' },
      { type: 'note', t: 12, text: 'It was ended.' },
    );
    expect(text).toBe(
      [
        '── user\nMend it.\n',
        '── assistant (fake/scripted)\n~ Hm.\n~ Well.\n\nI will look.\n',
        '── tool bash {"command":"ls -l"} (12 ms) failed\n  one\n  two\n',
        '· retry 1 of 3 in 50 ms: 529\n',
        '· context compacted (threshold): short\n',
        '── assistant\n[image image/png]\n\n(the answer was cut at the output limit)\n',
        '── assistant\nerror: 500\n',
        '── assistant\nSo far\n\n(aborted)\n',
        '· It was ended.\n',
      ].join('\n'),
    );
  });

  it('shows what is under way at its end, until the message and the result replace it', () => {
    const text = new TranscriptText();
    text.add([
      { type: 'message', t: 1, role: 'user', blocks: [{ type: 'text', text: 'Go.' }] },
      { type: 'delta', t: 2, kind: 'thinking', index: 0, text: 'So ' },
      { type: 'delta', t: 3, kind: 'thinking', index: 0, text: 'then' },
      { type: 'delta', t: 4, kind: 'text', index: 1, text: 'Hel' },
    ]);
    expect(text.toString()).toBe('── user\nGo.\n\n── assistant …\n~ So then\n\nHel\n');
    text.add([{ type: 'delta', t: 5, kind: 'text', index: 1, text: 'lo' }]);
    expect(text.toString()).toContain('Hello');
    text.add([{ type: 'message', t: 6, role: 'assistant', blocks: [{ type: 'text', text: 'Hello.' }] }]);
    expect(text.toString()).toBe('── user\nGo.\n\n── assistant\nHello.\n');
    text.add([
      { type: 'tool.start', t: 7, id: 'a', name: 'bash', arguments: '{}' },
      { type: 'tool.start', t: 7, id: 'b', name: 'read', arguments: '{}' },
      { type: 'tool.update', t: 8, id: 'a', text: 'one' },
      { type: 'tool.update', t: 9, id: 'a', text: 'one\ntwo' },
    ]);
    expect(text.toString().endsWith('── tool bash {} …\n  one\n  two\n\n── tool read {} …\n')).toBe(true);
    text.add([{ type: 'tool.end', t: 10, id: 'a', name: 'bash', text: 'all', isError: false }]);
    expect(text.toString().endsWith('── tool bash {}\n  all\n\n── tool read {} …\n')).toBe(true);
  });

  it('gives finished parts once each, and none that may still change', () => {
    const text = new TranscriptText();
    let given = 0;
    const next = () => {
      const parts = text.finished(given);
      given += parts.length;
      return parts;
    };
    text.add([
      { type: 'message', t: 1, role: 'user', blocks: [{ type: 'text', text: 'Go.' }] },
      { type: 'delta', t: 2, kind: 'text', index: 0, text: 'Hel' },
    ]);
    expect(next()).toEqual(['── user\nGo.\n']);
    expect(next()).toEqual([]);
    text.add([
      { type: 'message', t: 3, role: 'assistant', blocks: [{ type: 'text', text: 'Hello.' }] },
      { type: 'tool.start', t: 4, id: 'a', name: 'bash', arguments: '{}' },
    ]);
    expect(next()).toEqual(['── assistant\nHello.\n']);
    text.add([
      { type: 'tool.end', t: 5, id: 'a', name: 'bash', text: 'all', isError: false },
      { type: 'note', t: 6, text: 'It was ended.' },
    ]);
    expect(next()).toEqual(['── tool bash {}\n  all\n', '· It was ended.\n']);
    expect(text.finished(0).join('\n')).toBe(text.toString());
  });

  it('shows no empty sections', () => {
    expect(
      shown({
        type: 'message',
        t: 1,
        role: 'assistant',
        blocks: [
          { type: 'thinking', text: ' \n' },
          { type: 'text', text: '' },
        ],
      }),
    ).toBe('');
    expect(shown({ type: 'delta', t: 1, kind: 'toolCall', index: 0, text: '{"a' })).toBe('');
    expect(shown({ type: 'tool.update', t: 1, id: 'unknown', text: 'x' })).toBe('');
  });

  it('shows a result whose start was left out', () => {
    expect(shown({ type: 'tool.end', t: 1, id: 'c', name: 'bash', text: '', isError: false })).toBe('── tool bash\n');
  });

  it('shortens long calls', () => {
    const text = shown({ type: 'tool.start', t: 1, id: 'c', name: 'write', arguments: 'x'.repeat(1_000) });
    expect(text).toBe(`── tool write ${'x'.repeat(159)}… …\n`);
  });

  it('B65 makes every field harmless', () => {
    const bad = '\u001b[2J\u202e';
    const text = shown(
      {
        type: 'message',
        t: 1,
        role: 'assistant',
        model: bad,
        error: bad,
        blocks: [
          { type: 'text', text: bad },
          { type: 'thinking', text: bad },
        ],
      },
      { type: 'tool.start', t: 2, id: 'c', name: bad, arguments: bad },
      { type: 'tool.update', t: 3, id: 'c', text: bad },
      { type: 'tool.end', t: 3, id: 'd', name: bad, text: bad, isError: false },
      { type: 'retry', t: 4, attempt: 1, maxAttempts: 1, delayMs: 1, error: bad },
      { type: 'compaction', t: 5, phase: 'end', reason: bad, summary: bad },
      { type: 'delta', t: 6, kind: 'text', index: 0, text: bad },
      { type: 'note', t: 7, text: bad },
    );
    expect(text).not.toMatch(/[\u001b\u202e]/);
    expect(text.match(/␛\[2J\\u202e/g)).toHaveLength(14);
  });
});
