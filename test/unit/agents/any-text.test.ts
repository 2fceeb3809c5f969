/** Whatever stands in a file, reading it ends, and says things about places that are there. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FIELDS } from '../../../src/core/agents/agent-fields.ts';
import { parsed } from './definitions.ts';

const piece = fc.oneof(
  fc.constantFrom(
    '---',
    '--- ',
    '----',
    ':',
    ': ',
    '- ',
    '"',
    "'",
    '[',
    ']',
    '{',
    '}',
    '#',
    '&a ',
    '*a',
    '!x ',
    '|',
    '>-',
    '%',
    '@',
    '`',
  ),
  fc.constantFrom('\n', '\r\n', '\r', '\t', '  ', '\uFEFF', '\u2028', '😀', '\\', '? ', '<<: *a', 'true', '0'),
  fc.constantFrom(...FIELDS).map((name) => `\n${name}: `),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const text = fc
  .tuple(fc.boolean(), fc.array(piece, { maxLength: 40 }))
  .map(([isClosed, pieces]) =>
    isClosed ? `---\nname: a\ndescription: b\n${pieces.join('')}\n---\n` : pieces.join(''),
  );

it('any text is read, and each problem lies in it', () => {
  fc.assert(
    fc.property(text, (content) => {
      const { agent, diagnostics } = parsed(content);
      const lines = content.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
      for (const { line, column, endLine, endColumn, message } of diagnostics) {
        expect(message).not.toMatch(/\{\w+\}/);
        for (const [at, character] of [
          [line, column],
          [endLine, endColumn],
        ] as const) {
          expect(at).toBeGreaterThan(0);
          expect(character).toBeGreaterThan(0);
          expect(character).toBeLessThanOrEqual((lines[at - 1]?.length ?? -1) + 1);
        }
        expect(line < endLine || (line === endLine && column <= endColumn)).toBe(true);
      }
      // Either it can be used, or something says why not.
      if (!agent) expect(diagnostics.length).toBeGreaterThan(0);
      else expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    }),
    { numRuns: 3000 },
  );
});
