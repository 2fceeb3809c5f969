/** What a workflow has left behind: each part on its own, whatever became of the others. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readWorkflowReport } from '../../src/client/workflow-report.ts';
import { digestOf } from '../../src/core/runs/index.ts';
import type { JournalEvent } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { oneOfEach } from './builders/events.ts';
import { lines } from './builders/run.ts';

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir();
});
afterEach(() => folder.remove());

const write = (name: string, content: unknown) =>
  writeFile(join(folder.path, name), typeof content === 'string' ? content : JSON.stringify(content));
const journal = (...events: JournalEvent[]) =>
  write(
    'journal.jsonl',
    lines(events)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  );
const report = () => readWorkflowReport(folder.path);

const result = {
  version: 1,
  ok: true,
  value: { a: 1 },
  emits: [1, 'two'],
  console: [{ level: 'log', text: 'three' }],
  trace: [{ operation: 'run', key: 'a', state: 'completed', durationMs: 5 }],
};
const said = (step: number, emits: string[], text?: string): JournalEvent => ({
  type: 'workflow.said',
  step,
  emits: emits.map((json) => ({ json })),
  console: text === undefined ? [] : [{ level: 'log', text }],
});
const stepped = (step: number): JournalEvent => {
  const { more: _, ...event } = { more: undefined, ...oneOfEach['workflow.stepped'] };
  return { ...event, type: 'workflow.stepped', step };
};

describe('a run that is whole', () => {
  it('has all parts', async () => {
    await write('result.json', result);
    await write('receipt.json', { version: 1, entries: {} });
    expect(await report()).toEqual({
      directory: folder.path,
      value: { state: 'there', value: { a: 1 } },
      emits: { state: 'there', value: [1, 'two'] },
      console: { state: 'there', value: [{ level: 'log', text: 'three' }] },
      trace: { state: 'there', value: result.trace },
      receipt: { state: 'there', value: { version: 1, entries: {} } },
      isFromJournal: false,
    });
  });
});

describe('a run that has lost something', () => {
  it('says of each part that it is missing', async () => {
    const found = await report();
    expect([found.value, found.trace, found.receipt].map(({ state }) => state)).toEqual(Array(3).fill('missing'));
  });

  it('has no value when its script failed, and everything else', async () => {
    const { value: _, ...failed } = result;
    await write('result.json', { ...failed, ok: false });
    const { value, emits, trace } = await report();
    expect([value.state, emits.state, trace.state]).toEqual(['missing', 'there', 'there']);
  });

  it('shows what is right beside what is damaged', async () => {
    await write('result.json', { ...result, trace: 'gone', emits: 7 });
    await write('receipt.json', '{"version": 1, "entr');
    const { value, emits, trace, receipt, isFromJournal } = await report();
    expect(value).toEqual({ state: 'there', value: { a: 1 } });
    expect(trace).toMatchObject({ state: 'damaged', reason: expect.stringMatching(/array/) });
    expect(receipt).toMatchObject({ state: 'damaged', reason: expect.stringMatching(/JSON/) });
    // Nothing was said, as far as the journal tells, which is empty.
    expect([emits, isFromJournal]).toEqual([{ state: 'there', value: [] }, true]);
  });

  it('says that a folder stands where a file should be', async () => {
    await mkdir(join(folder.path, 'result.json'));
    expect(await report()).toMatchObject({ value: { state: 'damaged', reason: expect.stringContaining('folder') } });
    await rm(join(folder.path, 'result.json'), { recursive: true });
  });
});

describe('a run without a result', () => {
  it('has what its journal says it published, up to the last step that was written down', async () => {
    await mkdir(join(folder.path, 'artifacts', 'facts'), { recursive: true });
    await write('artifacts/facts/1-1.json', { long: true });
    const body = { file: 'artifacts/facts/1-1.json', bytes: 13, sha256: digestOf('{"long":true}') };
    await journal(
      said(1, ['1'], 'begun'),
      { ...said(1, []), emits: [{ body }] } as JournalEvent,
      stepped(1),
      said(2, ['"of a step that was not finished"']),
    );
    expect(await report()).toMatchObject({
      isFromJournal: true,
      value: { state: 'missing' },
      emits: { state: 'there', value: [1, { long: true }] },
      console: { state: 'there', value: [{ level: 'log', text: 'begun' }] },
    });
    await write('artifacts/facts/1-1.json', { long: 'of another run' });
    expect(await report()).toMatchObject({
      emits: { state: 'damaged', reason: expect.stringContaining('artifacts/facts/1-1.json') },
      console: { state: 'there', value: [{ level: 'log', text: 'begun' }] },
    });
  });

  it('takes a step that was told again in place of the earlier ones', async () => {
    await journal(said(1, ['1']), stepped(1), said(2, ['2']), stepped(2), said(2, ['"anew"']), stepped(2));
    expect(await report()).toMatchObject({ emits: { value: [1, 'anew'] } });
  });
});
