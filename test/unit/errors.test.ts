import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { ERROR_TEXTS, type ErrorText, PARTS } from '../../src/protocol/error-texts/index.ts';
import {
  describeError,
  describeFaults,
  ERROR_CODES,
  errorValue,
  LanesError,
  lanesError,
  textOf,
  toErrorValue,
  withDetail,
} from '../../src/protocol/index.ts';
import { projectRoot } from '../support/project-root.ts';

/** Rows of the tables in the catalogue: code, when it happens, what to do. */
async function catalogue(): Promise<string[][]> {
  const text = await readFile(join(projectRoot(), 'docs', 'errors.md'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
}

describe('the catalogue of errors', () => {
  it('documents every code once, and no other', async () => {
    const codes = (await catalogue()).map(([code]) => code?.replaceAll('`', ''));
    expect([...codes].sort()).toEqual([...ERROR_CODES].sort());
  });

  it('says of each when it happens and what to do', async () => {
    for (const row of await catalogue()) {
      expect(row, row[0]).toHaveLength(3);
      for (const cell of row.slice(1)) expect(cell, row[0]).toMatch(/^[A-Z`].{9,}/);
    }
  });
});

describe('a text', () => {
  const root = join(projectRoot(), 'src');
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('protocol'))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');

  it('is there for every code, and for no other', () => {
    const codes = Object.keys(ERROR_TEXTS).map((id) => id.split(':')[0]);
    expect([...new Set(codes)].sort()).toEqual([...ERROR_CODES].sort());
  });

  it.each(Object.keys(ERROR_TEXTS))('%s is used', (id) => {
    const [code, variant] = id.split(':');
    // Variants that are put together are named where they are.
    const inPart = [`\`${code}:\${`, `'${variant}'`];
    expect(sources.includes(`'${id}'`) || inPart.every((part) => sources.includes(part)), id).toBe(true);
  });

  it('stands in the catalogue only: nobody makes an error of ours from words of their own', () => {
    const made = [...sources.matchAll(/(?:lanesError|describeError)\(/g)];
    expect(made.length).toBeGreaterThan(80);
    expect(sources).not.toMatch(/new LanesError\(\s*['"`]/);
    const outside = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !/^(protocol|extension)/.test(path))
      .filter((path) => /code: '\w+'(?: as const)?,\s*message: [`']/.test(readFileSync(join(root, path), 'utf8')));
    expect(outside).toEqual([]);
  });

  it('stands in one part of the catalogue alone', () => {
    const ids = PARTS.flatMap((part) => Object.keys(part));
    expect(ids.toSorted()).toEqual(Object.keys(ERROR_TEXTS).toSorted());
  });

  it('is a sentence, and so is the hint', () => {
    for (const [id, text] of Object.entries<ErrorText>(ERROR_TEXTS)) {
      expect(text.message, id).toMatch(/^\S.*\S$/);
      if (text.hint !== undefined) expect(text.hint, id).toMatch(/^[A-Z].{5,}/);
    }
  });
});

describe('an error', () => {
  it('keeps its code, text, parameters, message and hint as a value', () => {
    const error = lanesError('agent_unknown', { name: 'nobody', known: 'worker, scout' });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'LanesError', code: 'agent_unknown', hint: 'Agents here: worker, scout.' });
    const value = toErrorValue(error);
    expect(value).toEqual({
      code: 'agent_unknown',
      message: 'There is no agent named "nobody".',
      hint: 'Agents here: worker, scout.',
      text: 'agent_unknown',
      params: { name: 'nobody', known: 'worker, scout' },
    });
    expect(errorValue.parse(JSON.parse(JSON.stringify(value)))).toEqual(value);
    expect(new LanesError(value).toValue()).toEqual(value);
  });

  it('of a variant has the code before the colon; one without places has no parameters', () => {
    expect(describeError('child_exited:aborted')).toEqual({
      code: 'child_exited',
      message: 'The child was aborted from outside.',
      text: 'child_exited:aborted',
    });
  });

  it('fills each place once: what stands in a parameter is no place', () => {
    const { message } = describeError('launch_invalid:lane', { key: '{workflowKey}', workflowKey: '{key}' });
    expect(message).toBe('lane.key is "{workflowKey}" and workflowKey is "{key}".');
  });

  it('may go on with what was printed, and keeps its text', () => {
    const value = withDetail(describeError('runner_died'), '\nThe runner printed:\nx');
    expect(value).toMatchObject({ message: 'The runner ended before the run began.\nThe runner printed:\nx' });
    expect(textOf(value)).toBe(ERROR_TEXTS.runner_died);
    for (const text of ['made:up', undefined, 'toString'])
      expect(textOf({ code: 'internal', message: 'x', ...(text === undefined ? {} : { text }) })).toBeUndefined();
  });

  it('that is not ours is internal, with its message', () => {
    expect(toErrorValue(new RangeError('too far'))).toEqual({ code: 'internal', message: 'too far' });
    for (const thrown of ['text', 7, null, undefined])
      expect(toErrorValue(thrown)).toEqual({ code: 'internal', message: String(thrown) });
  });

  it('has a code of the catalogue', () => {
    expect(errorValue.safeParse({ code: 'made_up', message: 'x' }).success).toBe(false);
  });
});

describe('what a schema refused', () => {
  const schema = z.object({ a: z.string(), b: z.object({ c: z.enum(['x', 'y']) }), d: z.number(), e: z.boolean() });
  const faultsOf = (value: unknown) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) throw new Error('not refused');
    return describeFaults(parsed.error);
  };

  it('is named with its field and the rule it broke, the first three', () => {
    const good = { a: '', b: { c: 'x' }, d: 1, e: true };
    expect(faultsOf({ ...good, b: { c: 'z' } })).toBe('b.c: Invalid option: expected one of "x"|"y"');
    expect(faultsOf({})).toMatch(/^a: .*string.*; b: .*object.*; d: .*number.*; and 1 more$/);
    expect(faultsOf('text')).toMatch(/^the value: .*object/);
  });
});
