import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter, MAX_PROTOCOL_LINE_BYTES, type SplitLine } from '../../src/core/children/pi-rpc/line-splitter.ts';
import { type ReadRecord, readRecord, textOf } from '../../src/core/children/pi-rpc/records.ts';
import { StderrTail } from '../../src/core/children/pi-rpc/stderr-tail.ts';

/** The bytes cut at the given places, as a stream would bring them. */
function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const borders = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return borders.slice(1).map((border, i) => bytes.subarray(borders[i], border));
}

function split(bytes: Buffer, cuts: readonly number[], limit?: number): SplitLine[] {
  const splitter = new LineSplitter(limit);
  return [...cutAt(bytes, cuts).flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
}

const cuts = fc.array(fc.nat(), { maxLength: 30 });
const texts = (found: readonly SplitLine[]) => found.map((line) => (line.type === 'line' ? line.text : line.type));

describe('lines', () => {
  it('run-9 are the same however the stream is cut, the last one also without its end', () => {
    const line = fc.string({
      unit: fc.constantFrom('a', '{', '"', 'é', '漢', '🦊', '\u2028', '\u2029', '\u0085', '\t'),
      minLength: 1,
    });
    fc.assert(
      fc.property(
        fc.array(line),
        fc.constantFrom('\n', '\r\n', '\n\n'),
        fc.boolean(),
        cuts,
        (lines, end, ended, at) => {
          const text = lines.join(end) + (ended ? end : '');
          expect(texts(split(Buffer.from(text), at))).toEqual(lines);
        },
      ),
    );
  });

  it('are cut at line feeds only, and lose one carriage return', () => {
    expect(texts(split(Buffer.from('a\u2028b\u2029c\u0085d\re\r\nf\r\r\n\r\n\n'), []))).toEqual([
      'a\u2028b\u2029c\u0085d\re',
      'f\r',
    ]);
  });

  it('come out as soon as they are complete', () => {
    const splitter = new LineSplitter();
    expect(splitter.push(Buffer.from('one\ntw'))).toEqual([{ type: 'line', text: 'one' }]);
    expect(splitter.push(Buffer.from('o'))).toEqual([]);
    expect(splitter.push(Buffer.from('\n'))).toEqual([{ type: 'line', text: 'two' }]);
    expect(splitter.end()).toEqual([]);
    expect(splitter.push(Buffer.from('three'))).toEqual([]);
    expect(splitter.end()).toEqual([{ type: 'line', text: 'three' }]);
    expect(splitter.end()).toEqual([]);
  });

  it('that are too long keep both ends, however the stream is cut, and spoil no other', () => {
    const body = Buffer.from(Array.from({ length: 3_000 }, (_, i) => `${i} `).join(''));
    const bytes = Buffer.concat([Buffer.from('before\n'), body, Buffer.from('\nafter\n')]);
    const long = {
      type: 'oversized',
      bytes: body.length,
      head: body.subarray(0, 4096).toString(),
      tail: body.subarray(-4096).toString(),
    };
    fc.assert(
      fc.property(cuts, fc.integer({ min: 5_000, max: body.length - 1 }), (at, limit) => {
        const expected = [{ type: 'line', text: 'before' }, long, { type: 'line', text: 'after' }];
        expect(split(bytes, at, limit)).toEqual(expected);
      }),
    );
    expect(texts(split(bytes, [9, 900, 9_000], body.length))).toEqual(['before', body.toString(), 'after']);
    expect(split(body, [100], 5_000)).toEqual([long]);
  });

  it('run-10 may have 16 MiB', () => {
    expect(MAX_PROTOCOL_LINE_BYTES).toBe(16 * 1024 * 1024);
    const most = Buffer.alloc(MAX_PROTOCOL_LINE_BYTES, 'x');
    expect(split(most, [])[0]?.type).toBe('line');
    expect(split(Buffer.concat([most, Buffer.from('x')]), [])).toMatchObject([
      { type: 'oversized', bytes: MAX_PROTOCOL_LINE_BYTES + 1 },
    ]);
  });
});

describe('records', () => {
  const read = (value: unknown): ReadRecord =>
    readRecord({ type: 'line', text: typeof value === 'string' ? value : JSON.stringify(value) });

  it('run-8 take a line that is no protocol as noise', () => {
    for (const text of ['npm warn something', '{"type":', '42', 'null', '"text"', '[]', '{"no":"type"}'])
      expect(read(text), text).toEqual({ type: 'noise', text });
  });

  it('ignore kinds they do not know, and known ones that look otherwise', () => {
    const ignored = [
      { type: 'queue_update', steering: [] },
      { type: 7 },
      { type: 'response' },
      { type: 'tool_execution_start' },
    ];
    for (const value of ignored) expect(read(value)).toEqual({ type: 'ignored' });
  });

  it('give what is needed of every kind, and never look at repeated content', () => {
    const record = (value: object) => {
      const found = read(value);
      return found.type === 'record' ? found.record : found;
    };
    expect(record({ type: 'response', id: 'r1', command: 'x', success: true, data: { a: 1 } })).toEqual({
      type: 'response',
      id: 'r1',
      command: 'x',
      success: true,
      data: { a: 1 },
    });
    expect(record({ type: 'agent_end', messages: [{ role: 'odd' }], willRetry: true })).toEqual({
      type: 'agent_end',
      willRetry: true,
    });
    expect(record({ type: 'agent_end', messages: [] })).toEqual({ type: 'agent_end' });
    expect(
      record({
        type: 'message_update',
        message: { huge: true },
        assistantMessageEvent: { type: 'text_delta', contentIndex: 2, delta: 'x', partial: {} },
      }),
    ).toEqual({ type: 'message_update', assistantMessageEvent: { type: 'text_delta', contentIndex: 2, delta: 'x' } });
    expect(record({ type: 'tool_execution_end', toolCallId: 'c', toolName: 'bash', result: {} })).toEqual({
      type: 'tool_execution_end',
      toolCallId: 'c',
      toolName: 'bash',
      result: { content: [] },
      isError: false,
    });
    expect(record({ type: 'agent_settled', aborted: true })).toEqual({ type: 'agent_settled', aborted: true });
  });

  it('keep a message whose content has parts of a new kind', () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'hologram', beam: 1 },
      { type: 'text', text: 'b' },
      { type: 'thinking', thinking: 'c' },
    ];
    const found = read({ type: 'message_end', message: { role: 'assistant', content, usage: { input: 3 } } });
    if (found.type !== 'record' || found.record.type !== 'message_end') throw new Error(`read as ${found.type}`);
    const { message } = found.record;
    expect(message.content).toEqual([content[0], { type: 'hologram' }, content[2], content[3]]);
    expect(message.usage).toEqual({ input: 3, output: 0, cacheRead: 0, cacheWrite: 0 });
    expect(textOf(message.content)).toBe('ab');
    expect(textOf('plain')).toBe('plain');
  });

  it('keep a message whose numbers are odd, and count those as nothing', () => {
    const usageOf = (usage: unknown) => {
      const found = read({ type: 'message_end', message: { role: 'assistant', content: 'x', usage } });
      if (found.type !== 'record' || found.record.type !== 'message_end') throw new Error(`read as ${found.type}`);
      expect(found.record.message.content).toBe('x');
      return found.record.message.usage;
    };
    const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    expect(usageOf({ input: null, output: '7', cacheRead: 3 })).toEqual({ ...none, cacheRead: 3 });
    expect(usageOf({ cost: { total: null } })).toEqual({ ...none, cost: { total: 0 } });
    expect(usageOf({ input: 2, cost: 'much' })).toMatchObject({ ...none, input: 2 });
    for (const odd of ['much', 7, null]) expect(usageOf(odd)).toBeUndefined();
  });

  it.each([
    ['true', { willRetry: true }, ''],
    ['false', { willRetry: false }, '\r'],
    ['absent', {}, ''],
  ])('run-11 read willRetry %s from an agent_end that is too long', (_, retry, end) => {
    const messages = Array.from({ length: 900 }, (_, i) => ({
      role: 'assistant',
      content: `"willRetry":true} ${i} ü`,
      details: { willRetry: true },
    }));
    const line = `${JSON.stringify({ type: 'agent_end', messages, ...retry })}${end}\n`;
    const [long] = split(Buffer.from(line), [4_000], 10_000);
    expect(long?.type).toBe('oversized');
    expect(long && readRecord(long)).toEqual({ type: 'record', record: { type: 'agent_end', ...retry } });
  });

  it('take a turn_end that is too long for what it is, and nothing else', () => {
    const long = (type: string) =>
      readRecord({ type: 'oversized', bytes: 99, head: ` { "type" : "${type}","x":"`, tail: '"}' });
    expect(long('turn_end')).toEqual({ type: 'record', record: { type: 'turn_end' } });
    for (const type of ['message_end', 'response', 'tool_execution_end', 'agent_endless'])
      expect(long(type)).toEqual({ type: 'too-long', bytes: 99 });
    expect(readRecord({ type: 'oversized', bytes: 99, head: 'x'.repeat(4096), tail: 'x' })).toEqual({
      type: 'too-long',
      bytes: 99,
    });
  });
});

describe('the end of the error output', () => {
  it('is valid UTF-8 of at most so many bytes, however the stream is cut', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '漢', '🦊', '\n'), maxLength: 200 });
    fc.assert(
      fc.property(
        text,
        cuts,
        fc.integer({ min: 4, max: 300 }),
        fc.integer({ min: 4, max: 300 }),
        (all, at, limit, wanted) => {
          const tail = new StderrTail(limit);
          for (const chunk of cutAt(Buffer.from(all), at)) tail.push(chunk);
          const found = tail.text(wanted);
          const bytes = Buffer.byteLength(found);
          const room = Math.min(limit, wanted, Buffer.byteLength(all));
          expect(all.endsWith(found)).toBe(true);
          expect(bytes).toBeLessThanOrEqual(room);
          // At most one character is given up, the one that was cut.
          expect(bytes).toBeGreaterThan(room - 4);
        },
      ),
    );
  });

  it('keeps 128 KiB and shows 4,096 bytes of it', () => {
    const tail = new StderrTail();
    tail.push(Buffer.from(`${'a'.repeat(200_000)}end`));
    expect(tail.text()).toBe(`${'a'.repeat(4093)}end`);
    expect(tail.text(1_000_000)).toHaveLength(128 * 1024);
  });
});
