/** Transcripts as Pi and our mirror write them, put together at random or by hand. */
import fc from 'fast-check';
import type { TranscriptEntry, Usage } from '../../../src/protocol/index.ts';

export const someUsage: Usage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 1, cost: 0.25 };

export const line = (value: unknown) => `${JSON.stringify(value)}\n`;

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('line\u2028separator', 'nul \0 here', 'x'.repeat(20_000), '{"type":"message"}', ''),
);
const callId = fc.constantFrom('a', 'b', 'c');
const toolName = fc.constantFrom('bash', 'read', 'edit', 'write');
const args = fc.constantFrom(
  { command: 'ls -l' },
  { path: 'a.ts', offset: 3 },
  { path: 'a.ts', edits: [{ oldText: 'one\n', newText: 'two\n' }] },
  { path: 'b.ts', content: 'x\ny\n' },
);
const t = fc.integer({ min: 0, max: 1000 });

const block = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({ type: fc.constant('thinking' as const), text }),
  fc.record({
    type: fc.constant('toolCall' as const),
    id: callId,
    name: toolName,
    arguments: args.map((value) => JSON.stringify(value)),
  }),
  fc.constant({ type: 'image' as const, mimeType: 'image/png' }),
);

/** Any entry after any other: stranger than a runner writes them. */
export const mirrorEntry: fc.Arbitrary<TranscriptEntry> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('delta' as const),
      t,
      kind: fc.constantFrom('text' as const, 'thinking' as const, 'toolCall' as const),
      index: fc.nat(2),
      text,
    }),
  },
  fc.record({
    type: fc.constant('message' as const),
    t,
    role: fc.constantFrom('user' as const, 'assistant' as const, 'custom' as const),
    blocks: fc.array(block, { maxLength: 4 }),
    stopReason: fc.constantFrom('stop', 'toolUse'),
    usage: fc.constant(someUsage),
  }),
  fc.record({
    type: fc.constant('tool.start' as const),
    t,
    id: callId,
    name: toolName,
    arguments: args.map((value) => JSON.stringify(value)),
  }),
  fc.record({ type: fc.constant('tool.update' as const), t, id: callId, text }),
  fc.record({
    type: fc.constant('tool.end' as const),
    t,
    id: callId,
    name: toolName,
    text,
    isError: fc.boolean(),
    durationMs: fc.nat(9),
  }),
  fc.record({
    type: fc.constant('retry' as const),
    t,
    attempt: fc.nat(3),
    maxAttempts: fc.constant(3),
    delayMs: fc.nat(9),
    error: text,
  }),
  fc.record({
    type: fc.constant('compaction' as const),
    t,
    phase: fc.constantFrom('start' as const, 'end' as const),
    reason: fc.constant('limit'),
  }),
  fc.record({ type: fc.constant('note' as const), t, text }),
);

/** What nobody should write: torn, binary, of another time, empty. */
export const oddLine: fc.Arbitrary<Buffer> = fc.oneof(
  fc.constant(Buffer.from('{"type":"message","t":5,"role":"assistant","blocks":[\n')),
  fc.constant(Buffer.from('\n')),
  fc.constant(Buffer.from('   \n')),
  fc.constant(Buffer.from('17\n')),
  fc.constant(Buffer.from('{"type":"of a later time"}\n')),
  fc
    .uint8Array({ maxLength: 30 })
    .map((bytes) => Buffer.concat([bytes.filter((byte) => byte !== 10), Buffer.from('\n')])),
);

export const mirrorBytes = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: mirrorEntry.map((entry) => Buffer.from(line(entry))) },
      { weight: 1, arbitrary: oddLine },
    ),
    { maxLength: 40 },
  )
  .map((lines) => Buffer.concat(lines));

/** An entry of a session without its place in the tree. */
type Payload = Record<string, unknown> & { type: string };

const stamp = '2026-11-30T17:59:15.051Z';

const content = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constant('thinking'), thinking: text }),
  fc.record({ type: fc.constant('toolCall'), id: callId, name: toolName, arguments: args }),
);
const pi = { input: 9, output: 4, cacheRead: 0, cacheWrite: 0, totalTokens: 13, cost: { total: 0.5 } };

const payload: fc.Arbitrary<Payload> = fc.oneof(
  fc.record({
    type: fc.constant('message'),
    message: fc.record({
      role: fc.constant('user'),
      content: fc.oneof(text, fc.array(fc.record({ type: fc.constant('text'), text }), { maxLength: 2 })),
      timestamp: t,
    }),
  }),
  fc.record({
    type: fc.constant('message'),
    message: fc.record({
      role: fc.constant('assistant'),
      content: fc.array(content, { maxLength: 4 }),
      provider: fc.constant('p'),
      model: fc.constant('m'),
      usage: fc.constant(pi),
      stopReason: fc.constant('stop'),
      timestamp: t,
    }),
  }),
  fc.record({
    type: fc.constant('message'),
    message: fc.record({
      role: fc.constant('toolResult'),
      toolCallId: callId,
      toolName,
      content: fc.array(fc.record({ type: fc.constant('text'), text }), { maxLength: 2 }),
      isError: fc.boolean(),
      durationMs: fc.nat(9),
      timestamp: t,
    }),
  }),
  fc.record({
    type: fc.constant('message'),
    message: fc.constant({ role: 'bashExecution', command: 'ls', output: 'x', exitCode: 0 }),
  }),
  fc.record({ type: fc.constant('message'), message: fc.constant({ role: 'system', content: '' }) }),
  fc.record({ type: fc.constant('compaction'), summary: text, firstKeptEntryId: fc.constant('x') }),
  fc.record({ type: fc.constant('branch_summary'), fromId: fc.constant('x'), summary: text }),
  fc.record({ type: fc.constant('model_change'), provider: fc.constant('p'), modelId: fc.constant('m') }),
  fc.record({ type: fc.constant('custom_message'), content: text, display: fc.boolean() }),
  fc.record({ type: fc.constant('label'), targetId: fc.constant('x') }),
);

/**
 * Session files whose entries follow each other, branch off earlier ones, or have lost their parent. Data of extensions
 * stands in front of the id, as Pi writes it.
 */
export const sessionBytes = fc
  .array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          payload,
          back: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.nat(6)),
          lost: fc.boolean(),
        }),
      },
      { weight: 1, arbitrary: oddLine },
    ),
    { maxLength: 40 },
  )
  .map((entries) => {
    const ids: string[] = [];
    const lines = entries.map((entry) => {
      if (Buffer.isBuffer(entry)) return entry;
      const id = `id${ids.length}`;
      const parentId = entry.back === 6 && entry.lost ? 'lost' : (ids.at(-1 - entry.back) ?? null);
      ids.push(id);
      const { type, ...rest } = entry.payload;
      const where = { id, parentId, timestamp: stamp };
      return Buffer.from(line(type === 'label' ? { type, ...rest, ...where } : { type, ...where, ...rest }));
    });
    return Buffer.concat([
      Buffer.from(line({ type: 'session', version: 3, id: 's', timestamp: stamp, cwd: '/c' })),
      ...lines,
    ]);
  });
