import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChildOutcome } from '../../src/core/children/index.ts';
import { keepValue, outputFaults, readKeptValue, refuseSchema } from '../../src/core/structured-output/index.ts';
import { MAX_STRUCTURED_OUTPUT_BYTES, NO_USAGE } from '../../src/protocol/index.ts';
import { judgeAnswer } from '../../src/runner/structured-answer.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

describe('an output schema', () => {
  it.each([
    [schema, undefined],
    [{ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', definitions: {} }, undefined],
    [{}, { rule: 'root', found: 'missing' }],
    [{ type: 'array' }, { rule: 'root', found: '"array"' }],
    [{ type: ['object', 'null'] }, { rule: 'root', found: '["object","null"]' }],
    [
      { type: 'object', description: 'x'.repeat(65_536) },
      { rule: 'size', bytes: 65_570, max: 65_536 },
    ],
    [
      { type: 'object', properties: { a: { $ref: 'https://example.com/a' } } },
      { rule: 'unusable', reason: expect.stringContaining('https://example.com/a') },
    ],
    [
      { type: 'object', properties: { a: { pattern: '(' } } },
      { rule: 'unusable', reason: expect.any(String) },
    ],
  ])('%j is refused as %j', (given, refusal) => {
    expect(refuseSchema(given)).toEqual(refusal);
  });

  it('that is nested too deeply is refused, and ends nothing', () => {
    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 7000; i++) deep = { not: deep };
    expect(refuseSchema({ type: 'object', ...deep })).toMatchObject({ rule: 'unusable' });
  });

  it('tells at most eight faults of a value, by place', () => {
    expect(outputFaults(schema, { n: 1, more: true })).toEqual([]);
    expect(outputFaults(schema, { n: 'x' })).toEqual(['/n: expected integer, got string']);
    expect(outputFaults(schema, 5)).toEqual(['the value: expected object, got integer']);
    const names = Array.from({ length: 12 }, (_, i) => `p${i}`);
    const faults = outputFaults({ type: 'object', required: names }, {});
    expect(faults).toHaveLength(8);
    expect(faults.at(-1)).toBe('and 5 more');
  });

  it('takes no value that is larger than may be kept', () => {
    const frame = JSON.stringify({ n: 1, text: '' }).length;
    const text = 'x'.repeat(MAX_STRUCTURED_OUTPUT_BYTES - frame);
    expect(outputFaults(schema, { n: 1, text })).toEqual([]);
    expect(outputFaults(schema, { n: 1, text: `${text}x` })).toEqual([expect.stringContaining('the limit is 204800')]);
  });
});

describe('a value that was given', () => {
  let folder: TempDir;
  beforeEach(async () => {
    folder = await tempDir();
  });
  afterEach(() => folder.remove());

  it('is read as it was kept', async () => {
    const file = join(folder.path, 'v.json');
    expect(await readKeptValue(file, schema)).toEqual({ state: 'none' });
    await keepValue(file, { n: 7 });
    expect(await readKeptValue(file, schema)).toEqual({ state: 'given', value: { n: 7 } });
  });

  it('is not believed: what somebody put in its place is checked', async () => {
    const file = join(folder.path, 'v.json');
    for (const text of ['{"n":"x"}', 'null', '{"n":', '']) {
      await writeFile(file, text);
      expect(await readKeptValue(file, schema), text).toMatchObject({ state: 'unusable' });
    }
    await mkdir(join(folder.path, 'folder'));
    expect(await readKeptValue(join(folder.path, 'folder'), schema)).toMatchObject({ state: 'unusable' });
  });
});

describe('what a structured answer makes of an outcome', () => {
  const progress = { phase: 'idle', tool: null, turns: 1, toolCalls: 1, usage: NO_USAGE } as const;
  const done: ChildOutcome = {
    state: 'complete',
    stopReason: 'stop',
    text: 'words',
    lastWords: 'words',
    error: null,
    progress,
    exited: false,
    inactive: false,
  };
  const given = { state: 'given', value: { n: 1 } } as const;

  it('a good end with a value has the value as its text', () => {
    expect(judgeAnswer(done, given, schema)).toEqual({
      outcome: { ...done, text: '{\n  "n": 1\n}' },
      answer: { value: { n: 1 } },
    });
  });

  it('any other end keeps its state and words, and the value', () => {
    for (const state of ['failed', 'partial', 'stopped', 'paused'] as const) {
      const other = { ...done, state };
      expect(judgeAnswer(other, given, schema)).toEqual({ outcome: other, answer: { value: { n: 1 } } });
      expect(judgeAnswer(other, { state: 'none' }, schema)).toEqual({ outcome: other });
    }
  });

  it('a good end without a value is none', () => {
    const { outcome, answer } = judgeAnswer(done, { state: 'none' }, schema);
    expect(answer).toBeUndefined();
    expect(outcome).toMatchObject({ state: 'failed', text: 'words', error: { text: 'structured_output_missing' } });
  });

  it('a refused value is told with its faults, or with what the child was told', () => {
    const refused = (value: unknown) =>
      judgeAnswer({ ...done, refusedAnswer: { value, reason: 'the disk is full' } }, { state: 'none' }, schema).outcome;
    expect(refused({ n: 'x' }).error).toMatchObject({
      text: 'structured_output_missing:refused',
      params: { faults: '/n: expected integer, got string' },
    });
    expect(refused({ n: 1 }).error?.params).toEqual({ faults: 'the disk is full' });
  });

  it('a file that cannot be used is told as that', () => {
    const { outcome } = judgeAnswer(done, { state: 'unusable', faults: ['bad', 'worse'] }, schema);
    expect(outcome.error).toMatchObject({
      text: 'structured_output_missing:unusable',
      params: { faults: 'bad; worse' },
    });
  });
});
