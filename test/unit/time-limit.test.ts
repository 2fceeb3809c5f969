/** Time limits as people give them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_LIMIT_MS, timeLimit } from '../../src/core/settings/index.ts';

const option = { name: '--timeout', unit: 'seconds', zeroIsNone: true } as const;
const setting = { name: 'piLanes.timeoutMinutes', unit: 'minutes', zeroIsNone: true } as const;

describe('a time limit', () => {
  it('is a number of seconds or minutes, with fractions', () => {
    expect(timeLimit('90', option)).toBe(90_000);
    expect(timeLimit('0.5', option)).toBe(500);
    expect(timeLimit('0.001', option)).toBe(1);
    expect(timeLimit('0.0015', option)).toBe(2);
    expect(timeLimit(30, setting)).toBe(1_800_000);
    expect(timeLimit(0.0001, setting)).toBe(6);
    expect(timeLimit('2147483.647', option)).toBe(MAX_LIMIT_MS);
  });

  it('run-62 of zero is none, where there can be none', () => {
    for (const zero of ['0', '0.0', '00']) expect(timeLimit(zero, option)).toBeNull();
    expect(timeLimit(0, setting)).toBeNull();
    expect(() => timeLimit('0', { ...option, zeroIsNone: false })).toThrow('--timeout is "0".');
  });

  it.each([
    '0.0001',
    '0.0000001',
    '-1',
    '',
    ' ',
    ' 5',
    '1e3',
    '0x10',
    '5s',
    'ten',
    'Infinity',
    'NaN',
    '2147484',
    '1,5',
  ])('of %j is refused by name, value and rule', (text) => {
    expect(() => timeLimit(text, option)).toThrow(
      expect.objectContaining({
        code: 'launch_invalid',
        message: `--timeout is ${JSON.stringify(text)}.`,
        hint: 'It must be a number of seconds from 0.001 to 2147483, or 0 for no limit.',
      }),
    );
  });

  it.each([0.000001, -1, 40_000, '30 minutes', true, null, {}])('from a setting of %j is refused', (value) => {
    expect(() => timeLimit(value, setting)).toThrow(
      expect.objectContaining({
        message: `piLanes.timeoutMinutes is ${JSON.stringify(value)}.`,
        hint: 'It must be a number of minutes from 0.0001 to 35791, or 0 for no limit.',
      }),
    );
  });

  it('never comes to be none unless it is zero', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (given) => {
        const limit = (() => {
          try {
            return timeLimit(given, setting);
          } catch {
            return 'refused';
          }
        })();
        if (given !== 0) expect(limit).not.toBeNull();
        if (typeof limit === 'number') expect(limit).toBeGreaterThanOrEqual(1);
      }),
    );
  });
});
