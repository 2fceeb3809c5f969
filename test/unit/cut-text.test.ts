import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText, cutTextFront } from '../../src/protocol/index.ts';

describe('a text that is cut', () => {
  it('is its beginning or its end, without half a character', () => {
    expect(cutText('abcdef', 4)).toBe('abcd');
    expect(cutTextFront('abcdef', 4)).toBe('cdef');
    expect(cutText('abc😀', 4)).toBe('abc');
    expect(cutText('ab😀d', 4)).toBe('ab😀');
    expect(cutTextFront('😀abc', 4)).toBe('abc');
    expect(cutTextFront('a😀bc', 4)).toBe('😀bc');
    expect([cutText('abc', 3), cutTextFront('abc', 3), cutText('', 3), cutText('abc', 0)]).toEqual([
      'abc',
      'abc',
      '',
      '',
    ]);
  });

  it('is never longer than it may be, at most one unit shorter, and still well-formed', () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 });
    fc.assert(
      fc.property(text, fc.nat(24), (whole, max) => {
        for (const [cut, isPart] of [
          [cutText(whole, max), whole.startsWith(cutText(whole, max))],
          [cutTextFront(whole, max), whole.endsWith(cutTextFront(whole, max))],
        ] as const) {
          expect(isPart).toBe(true);
          expect(cut.length).toBeLessThanOrEqual(max);
          expect(cut.length).toBeGreaterThanOrEqual(Math.min(max, whole.length) - 1);
          expect(cut.isWellFormed()).toBe(whole.isWellFormed());
        }
      }),
    );
  });
});
