import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { describeFaults, ERROR_CODES, errorValue, LanesError, toErrorValue } from '../../src/protocol/index.ts';
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

describe('a code', () => {
  it('is one that the code reports, and is named there only as it is in the catalogue', () => {
    const root = join(projectRoot(), 'src');
    const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && path !== join('protocol', 'errors.ts'))
      .map((path) => readFileSync(join(root, path), 'utf8'))
      .join('\n');
    for (const code of ERROR_CODES) expect(sources, code).toContain(`'${code}'`);
    const made = [...sources.matchAll(/new LanesError\(\s*'(\w+)'/g)].map(([, code]) => code);
    expect(made.length).toBeGreaterThan(40);
    for (const code of made) expect(ERROR_CODES).toContain(code);
  });
});

describe('an error', () => {
  it('keeps its code, its message and its hint as a value', () => {
    const error = new LanesError('pi_not_found', 'No Pi.', 'Install it.');
    expect(error).toBeInstanceOf(Error);
    const value = toErrorValue(error);
    expect(value).toEqual({ code: 'pi_not_found', message: 'No Pi.', hint: 'Install it.' });
    expect(errorValue.parse(JSON.parse(JSON.stringify(value)))).toEqual(value);
    expect(LanesError.fromValue(value)).toMatchObject({ name: 'LanesError', ...value });
    expect(toErrorValue(new LanesError('internal', 'x'))).toEqual({ code: 'internal', message: 'x' });
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
