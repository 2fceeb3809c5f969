/** Whatever is typed, the check answers; and what does not change a program does not change the verdict on it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextPositions } from '../../src/core/text-positions/index.ts';
import { analyseScript } from '../../src/core/workflow/analyse-script.ts';
import { applySafeFixes } from '../../src/core/workflow/index.ts';

/** Pieces that programs of this kind are made of, right and wrong. */
const expression = fc.letrec<{ value: string; object: string; call: string; statement: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      '1',
      '"text"',
      'undefined',
      'null',
      'items',
      'r',
      'r.a',
      'r["a"]',
      'r?.a',
      '/x/g',
      '2n',
      `\`t\${r}\``,
      'x => x',
      'async () => 1',
    ),
    tie('object'),
    tie('call'),
    fc.tuple(tie('value'), tie('value')).map(([a, b]) => `(${a} + ${b})`),
    fc.tuple(tie('value'), tie('value')).map(([a, b]) => `[${a}, ${b}]`),
    tie('value').map((value) => `(k) => (${value})`),
    tie('call').map((call) => `await ${call}`),
    tie('call').map((call) => `${call}.then((r) => r)`),
    tie('call').map((call) => `(async (k) => (await ${call}).output)`),
  ),
  object: fc
    .array(
      fc.tuple(
        fc.constantFrom('key', 'agent', 'task', 'worktree', 'lane', 'baseRef', 'cwd', 'stages', '...more', '[name]'),
        tie('value'),
      ),
      { maxLength: 4 },
    )
    .map(
      (fields) =>
        `({ ${fields.map(([name, value]) => (name === '...more' ? name : `${name}: ${value}`)).join(', ')} })`,
    ),
  call: fc
    .tuple(
      fc.constantFrom(
        'runs.run',
        'runs.all',
        'runs.lanes',
        'runs.host',
        'runs.steer',
        'runs?.run',
        'emit',
        'state.set',
        'Promise.all',
        'f',
      ),
      fc.array(tie('value'), { maxLength: 3 }),
    )
    .map(([name, args]) => `${name}(${args.join(', ')})`),
  statement: fc.oneof(
    { depthSize: 'small' },
    tie('value').map((value) => `${value};`),
    tie('value').map((value) => `const r = ${value};`),
    tie('value').map((value) => `return ${value};`),
    tie('value').map((value) => `const { a } = ${value};`),
    fc.tuple(tie('value'), tie('statement')).map(([value, inner]) => `if (${value}) { ${inner} }`),
    tie('statement').map((inner) => `function f(runs) { ${inner} }`),
    tie('statement').map((inner) => `for (const r of items) { ${inner} }`),
    tie('statement').map((inner) => `try { ${inner} } catch ({ a }) { a; }`),
  ),
}));
const program = fc.array(expression.statement, { maxLength: 6 }).map((statements) => statements.join('\n'));

const verdict = (script: string) => analyseScript(script).findings.map(({ code, severity }) => `${severity} ${code}`);

describe('for every text', () => {
  it('there is an answer with places inside it', () => {
    const text = fc.oneof(
      program,
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom(...'(){}[]`"\'/*;,.=>\n runs.run async await return key:'.split('')) }),
    );
    fc.assert(
      fc.property(text, (script) => {
        const positions = new TextPositions(script);
        const end = positions.at(script.length);
        for (const { line, column, endLine, endColumn, fix } of analyseScript(script).findings) {
          expect(positions.at(positions.offset(line, column))).toEqual({ line, column });
          expect(line < endLine || (line === endLine && column <= endColumn)).toBe(true);
          expect(endLine < end.line || (endLine === end.line && endColumn <= end.column)).toBe(true);
          for (const edit of fix?.edits ?? [])
            expect(positions.offset(edit.line, edit.column)).toBeLessThanOrEqual(
              positions.offset(edit.endLine, edit.endColumn),
            );
        }
      }),
      { numRuns: 1500 },
    );
  });

  it('fixes leave valid JavaScript and bring no new kind of error', () => {
    fc.assert(
      fc.property(program, (script) => {
        const before = analyseScript(script).findings;
        const { script: after, applied } = applySafeFixes(script, before);
        if (applied.length === 0) return;
        const left = analyseScript(after).findings;
        expect(
          left.map(({ code }) => code),
          after,
        ).not.toContain('syntax');
      }),
      { numRuns: 1500 },
    );
  });
});

describe('the verdict does not change', () => {
  const parsed = program.filter((script) => !verdict(script).includes('error syntax') && script.trim() !== '');

  it('with line ends, indentation and comments', () => {
    fc.assert(
      fc.property(parsed, (script) => {
        const shaped = `// Title\r\n\r\n${script.replaceAll('\n', '\r\n\t  ')}\r\n/* end */`;
        expect(verdict(shaped)).toEqual(verdict(script));
      }),
      { numRuns: 500 },
    );
  });

  it('with other names for what the script calls its own', () => {
    fc.assert(
      fc.property(parsed, (script) => {
        const renamed = script.replace(/\br\b/g, 'renamed');
        expect(verdict(renamed)).toEqual(verdict(script));
      }),
      { numRuns: 500 },
    );
  });

  it('when it is asked twice', () => {
    fc.assert(
      fc.property(program, (script) => {
        expect(analyseScript(script)).toEqual(analyseScript(script));
      }),
      { numRuns: 200 },
    );
  });
});
