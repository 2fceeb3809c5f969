/** What is handed on of an answer that is too long. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES, truncateOutput } from '../../src/core/outputs/index.ts';

/** The kept part and the mark behind it. */
function split(text: string): { kept: string; mark: string } {
  const cut = truncateOutput(text);
  expect(cut.truncated).toBe(true);
  const at = cut.text.lastIndexOf('\n[cut: ');
  return { kept: cut.text.slice(0, at), mark: cut.text.slice(at + 1) };
}

const lines = (count: number) => Array.from({ length: count }, (_, n) => `line ${n + 1}`);

test('the limits are 200 KiB and 5,000 lines', () => {
  expect(MAX_OUTPUT_BYTES).toBe(204_800);
  expect(MAX_OUTPUT_LINES).toBe(5000);
});

describe('bytes', () => {
  test.each(['', 'short', 'x'.repeat(MAX_OUTPUT_BYTES), 'ä'.repeat(MAX_OUTPUT_BYTES / 2)])(
    'up to the limit nothing is changed (text %#)',
    (text) => {
      expect(truncateOutput(text)).toEqual({ text, truncated: false });
    },
  );

  test('one byte more is cut at the limit, and the mark has the whole size', () => {
    const text = `${'x'.repeat(MAX_OUTPUT_BYTES)}y`;
    expect(split(text)).toEqual({ kept: 'x'.repeat(MAX_OUTPUT_BYTES), mark: '[cut: 204801 bytes, 1 lines in all]' });
  });

  test.each([
    ['two bytes', 'ä', 1],
    ['three bytes', '漢', 1],
    ['three bytes', '漢', 2],
    ['four bytes', '\u{1F98A}', 1],
    ['four bytes', '\u{1F98A}', 2],
    ['four bytes', '\u{1F98A}', 3],
  ])('a character of %s is not cut in two: %s with %i bytes inside the limit', (_, character, inside) => {
    const head = 'x'.repeat(MAX_OUTPUT_BYTES - inside);
    expect(split(`${head}${character}tail`).kept).toBe(head);
  });

  test('a byte order mark at the beginning is kept', () => {
    expect(split(`\ufeff${'x'.repeat(MAX_OUTPUT_BYTES)}`).kept.startsWith('\ufeffx')).toBe(true);
  });
});

describe('lines', () => {
  test('up to the limit nothing is changed, with and without a newline at the end', () => {
    const text = lines(MAX_OUTPUT_LINES).join('\n');
    expect(truncateOutput(text)).toEqual({ text, truncated: false });
    expect(truncateOutput(`${text}\n`)).toEqual({ text: `${text}\n`, truncated: false });
  });

  test('one line more is cut off as a whole', () => {
    const all = lines(MAX_OUTPUT_LINES + 1);
    const text = all.join('\n');
    const { kept, mark } = split(text);
    expect(kept).toBe(all.slice(0, MAX_OUTPUT_LINES).join('\n'));
    expect(mark).toBe(`[cut: ${text.length} bytes, 5001 lines in all]`);
  });

  test('of both limits the one that is reached first counts', () => {
    const long = Array.from({ length: 6000 }, () => 'x'.repeat(99)).join('\n');
    expect(Buffer.byteLength(split(long).kept)).toBe(MAX_OUTPUT_BYTES);
    const short = Array.from({ length: 200_000 }, () => 'x').join('\n');
    expect(split(short).kept.split('\n')).toHaveLength(MAX_OUTPUT_LINES);
  });
});

test('what is kept is the beginning of the text, within the limits, in whole characters', () => {
  const piece = fc.constantFrom(
    'x'.repeat(999),
    'ä'.repeat(500),
    '漢'.repeat(333),
    '\u{1F98A}'.repeat(250),
    '\n',
    '\r\n',
  );
  fc.assert(
    fc.property(fc.array(piece, { minLength: 150, maxLength: 450 }), fc.nat(3), (pieces, shift) => {
      const text = 'y'.repeat(shift) + pieces.join('');
      const cut = truncateOutput(text);
      if (!cut.truncated) {
        expect(cut.text).toBe(text);
        return;
      }
      const kept = cut.text.slice(0, cut.text.lastIndexOf('\n[cut: '));
      expect(text.startsWith(kept)).toBe(true);
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(MAX_OUTPUT_BYTES);
      expect(Buffer.byteLength(kept)).toBeGreaterThan(MAX_OUTPUT_BYTES - 4);
      expect(kept).not.toContain('\ufffd');
    }),
    { numRuns: 50 },
  );
});
