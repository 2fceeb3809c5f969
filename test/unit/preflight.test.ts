/** What is said of a workflow beforehand: its bounds, and how it compares with what was launched. It never keeps anything from running. */
import { describe, expect, it } from 'vitest';
import { preflightWarnings } from '../../src/core/workflow/index.ts';
import { describeFaults, MAX_PREFLIGHT_WARNINGS, preflight } from '../../src/protocol/index.ts';

const lane = (key: string, more: object = {}) => ({ key, ...more });
const of = (lanes: object[], more: object = {}) => ({ version: 1, lanes, ...more });

function faults(value: unknown): string {
  const parsed = preflight.safeParse(value);
  return parsed.success ? '' : describeFaults(parsed.error);
}

describe('a preflight', () => {
  it('covers a part when it says nothing else, and its texts are one line each', () => {
    const given = of([
      lane('north', { mode: 'review', decision: '  keep\n\tor\u0000 drop ', claims: ['src/ a\r\nb'] }),
    ]);
    expect(preflight.parse(given)).toEqual({
      version: 1,
      coverage: 'partial',
      lanes: [{ key: 'north', mode: 'review', decision: 'keep or drop', claims: ['src/ a b'] }],
    });
  });

  it.each<[string, unknown, RegExp]>([
    ['another version', { version: 2, lanes: [] }, /version/],
    ['a field nobody knows', of([], { lane: 1 }), /lane/],
    ['such a field in a lane', of([lane('a', { task: 'x' })]), /task/],
    ['another coverage', of([], { coverage: 'most' }), /coverage/],
    ['another mode', of([lane('a', { mode: 'deploy' })]), /mode/],
    ['a key that is none', of([lane('a b')]), /key/],
    ['a key twice', of([lane('a'), lane('a')]), /each key may stand once/],
    ['65 lanes', of(Array.from({ length: 65 }, (_, at) => lane(`k${at}`))), /lanes/],
    ['17 claims', of([lane('a', { claims: Array(17).fill('x') })]), /claims/],
    ['a text of 257 characters', of([lane('a', { decision: 'x'.repeat(257) })]), /decision/],
    ['a text that says nothing', of([lane('a', { independence: ' \n ' })]), /independence/],
    [
      'more than 16 KiB',
      of(Array.from({ length: 64 }, (_, at) => lane(`k${at}`, { expectedOutput: 'ä'.repeat(200) }))),
      /16384 bytes/,
    ],
  ])('is refused with %s', (_, value, told) => {
    expect(faults(value)).toMatch(told);
  });

  it('takes as much as is allowed', () => {
    const most = of(Array.from({ length: 64 }, (_, at) => lane(`k${at}`, { claims: Array(16).fill('x') })));
    expect(faults(most)).toBe('');
    expect(faults(of([lane('a', { decision: 'x'.repeat(256) })]))).toBe('');
  });
});

describe('what differs from a preflight', () => {
  const complete = preflight.parse(of([lane('north'), lane('south')], { coverage: 'complete' }));
  const partial = preflight.parse(of([lane('north'), lane('south')]));

  it('is a child outside of all lanes, when these are said to be all', () => {
    const launched = ['north', 'north.build', 'northern', 'northern'];
    expect(preflightWarnings(complete, launched, false)).toEqual([
      'northern was launched, and no lane of the preflight covers it.',
    ]);
    expect(preflightWarnings(partial, launched, false)).toEqual([]);
  });

  it('is a lane of which nothing was launched, when it is over', () => {
    expect(preflightWarnings(partial, ['north.build'], false)).toEqual([]);
    expect(preflightWarnings(partial, ['north.build'], true)).toEqual([
      'The lane south of the preflight was never launched.',
    ]);
  });

  it('is told sixteen times at most, with the number of the rest', () => {
    const launched = Array.from({ length: 40 }, (_, at) => `k${at}`);
    const warnings = preflightWarnings(complete, launched, false);
    expect(warnings).toHaveLength(MAX_PREFLIGHT_WARNINGS);
    expect(warnings.at(-1)).toContain('25 more');
    expect(preflightWarnings(complete, launched.slice(0, 16), false).at(-1)).toContain('k15');
  });
});
