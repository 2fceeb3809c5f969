/** The worker that reads scripts: its stack, its deadline, what becomes of it. */
import { afterAll, describe, expect, it } from 'vitest';
import { ScriptValidator } from '../../src/core/workflow/index.ts';
import type { FindingCode } from '../../src/protocol/index.ts';

const worker = new URL('../../src/core/workflow/validate-worker.ts', import.meta.url);
// How much there is to read is the matter here, not how busy the machine is.
const validator = new ScriptValidator({ worker, deadlineMs: 60_000 });
afterAll(() => validator[Symbol.asyncDispose]());

const codes = async (script: string, reader = validator): Promise<FindingCode[]> =>
  (await reader.analyse(script)).findings.map(({ code }) => code);
const repeat = (count: number, text: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => text(at)).join('');

describe('large and deep scripts', () => {
  it.each([
    ['10,000 parentheses', `return ${'('.repeat(10_000)}1${')'.repeat(10_000)}`],
    ['a chain of 3,000 links', `return runs.run('a', { agent: 'w' })${'.then((x) => x)'.repeat(3_000)}`],
    ['3,000 terms', `return ${'1 + '.repeat(3_000)}1`],
    ['3,000 else-ifs', `${repeat(3_000, (at) => `if (args === ${at}) { const y = 1; emit(y); } else `)}{}`],
    ['3,000 nested arrays', `return ${'['.repeat(3_000)}${']'.repeat(3_000)}`],
    [
      'a megabyte',
      `const texts = [\n${repeat(12_000, (at) => `  'This is line number ${at} of a text that goes on and on, and is here to be long.',\n`)}];\nreturn texts.length`,
    ],
  ])('%s', async (_, script) => {
    expect(await codes(script)).toEqual([]);
  });

  it('finds the mistake in a megabyte of code', async () => {
    const lines = repeat(18_000, (at) => `const value${at} = { number: ${at}, text: \`\${args}\` };\n`);
    const script = `${lines}emit(undefined);\n`;
    expect(script.length).toBeGreaterThan(900_000);
    expect((await validator.analyse(script)).findings).toMatchObject([{ code: 'not_json', line: 18_001, column: 6 }]);
  });

  it('says so when a script is too deep for any stack, and goes on', async () => {
    expect(await codes('['.repeat(200_000))).toEqual(['script_too_deep']);
    expect(await codes('emit(undefined)')).toEqual(['not_json']);
  });

  it('refuses what is too large', async () => {
    expect(await codes(`// ${'x'.repeat(4 * 1024 * 1024)}`)).toEqual(['script_too_large']);
  });
});

describe('the worker', () => {
  it('is ended when a script takes too long, and started again', async () => {
    await using hasty = new ScriptValidator({ worker, deadlineMs: 1 });
    const long = repeat(20_000, (at) => `const v${at} = ${at};\n`);
    expect(await codes(long, hasty)).toEqual(['script_too_slow']);
    await using patient = new ScriptValidator({ worker });
    const [first, second] = await Promise.all([codes(long, patient), codes('emit(undefined)', patient)]);
    expect([first, second]).toEqual([[], ['not_json']]);
  });

  it('is ended when idle, and started again', async () => {
    await using reader = new ScriptValidator({ worker, idleMs: 0 });
    expect(await codes('emit(undefined)', reader)).toEqual(['not_json']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await codes('emit(undefined)', reader)).toEqual(['not_json']);
  });

  it('does not answer what nobody waits for any more', async () => {
    const abort = new AbortController();
    const first = validator.analyse('return 1');
    const second = validator.analyse('return 2', {}, abort.signal);
    abort.abort(new Error('typed on'));
    await expect(second).rejects.toThrow('typed on');
    expect((await first).findings).toEqual([]);
    await expect(validator.analyse('return 3', {}, abort.signal)).rejects.toThrow('typed on');
  });

  it('that cannot be started is an error of its own, each time', async () => {
    await using broken = new ScriptValidator({ worker: new URL('./no-such-worker.mjs', import.meta.url) });
    await expect(broken.analyse('return 1')).rejects.toThrow('no-such-worker');
    await expect(broken.analyse('return 1')).rejects.toThrow('no-such-worker');
  });

  it('ends with the validator, whatever is under way', async () => {
    const reader = new ScriptValidator({ worker });
    const waiting = reader.analyse('return 1');
    const refused = expect(waiting).rejects.toThrow('closed');
    await reader[Symbol.asyncDispose]();
    await refused;
    await expect(reader.analyse('return 1')).rejects.toThrow('closed');
  });
});
