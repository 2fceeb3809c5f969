/** The window of items the page holds: whatever comes, in whatever order, it stays a part of the transcript in its order. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PanelItem } from '../../src/protocol/index.ts';
import { type Delta, ItemWindow } from '../../webview/transcript/item-window.ts';
import { body, note, text, tool } from './host/items.ts';

const items = (from: number, to: number): PanelItem[] =>
  Array.from({ length: to - from }, (_, n) => note(`i${from + n}`, `${from + n}`));
const keys = (window: ItemWindow) => window.items.map(({ key }) => key);
const delta = (change: Partial<Delta>): Delta => ({
  type: 'delta',
  changed: [],
  grown: [],
  removed: [],
  added: [],
  ...change,
});

function pageOf(from: number, to: number, size: number) {
  return {
    items: items(from, to),
    before: from > 0 ? `c:i${from}` : null,
    after: to < size ? `c:i${to - 1}` : null,
  };
}

describe('the window', () => {
  it('takes in neighbours, also ones it has', () => {
    const window = new ItemWindow();
    window.replace(pageOf(10, 20, 30));
    window.merge('before', pageOf(5, 12, 30));
    window.merge('after', pageOf(18, 30, 30));
    expect(keys(window)).toEqual(items(5, 30).map(({ key }) => key));
    expect([window.before, window.after]).toEqual(['c:i5', null]);
    expect(keys(window).every((key, index) => window.indexOf(key) === index)).toBe(true);
  });

  it('takes deltas at its end only when it reaches the end of the transcript', () => {
    const window = new ItemWindow();
    window.replace(pageOf(0, 5, 9));
    expect(window.apply(delta({ added: items(9, 11) }))).toBe(2);
    expect(window.items).toHaveLength(5);
    window.merge('after', pageOf(5, 11, 11));
    window.apply(delta({ added: items(11, 12), removed: ['i3', 'unknown'], changed: [note('i4', 'new')] }));
    expect(keys(window)).toEqual(['i0', 'i1', 'i2', ...items(4, 12).map(({ key }) => key)]);
    expect(window.get('i4')).toMatchObject({ text: 'new' });
  });

  it('grows texts and output, and ignores what it does not have', () => {
    const window = new ItemWindow();
    window.replace({
      items: [text('t', 'a', { streaming: true }), tool('b', { output: body('x') })],
      before: null,
      after: null,
    });
    const grown = [
      { key: 't', text: 'b' },
      { key: 'b', text: 'y' },
      { key: 'gone', text: 'z' },
    ];
    window.apply(delta({ grown }));
    expect(window.get('t')).toMatchObject({ body: { text: 'ab', length: 2 } });
    expect(window.get('b')).toMatchObject({ output: { text: 'xy', length: 2 } });
  });

  it('lets go of one end, and knows where to ask for it', () => {
    const window = new ItemWindow({ items: 100, chars: 1e9 });
    window.replace(pageOf(0, 120, 120));
    expect(window.trim('start')).toEqual(items(0, 35).map(({ key }) => key));
    expect([window.before, window.after]).toEqual(['c:i35', null]);
    window.merge('before', pageOf(0, 35, 120));
    expect(window.trim('end')).toEqual(items(85, 120).map(({ key }) => key));
    expect([window.before, window.after]).toEqual([null, 'c:i84']);
    expect(window.trim('end')).toEqual([]);
  });

  it('lets go only up to an item whose place is known', () => {
    const window = new ItemWindow({ items: 10, chars: 1e9 });
    const unplaced = items(0, 20).map((item, n) => (n < 15 ? { ...item, cursor: null } : item));
    window.replace({ items: unplaced, before: null, after: null });
    expect(window.trim('start')).toHaveLength(0);
    expect(window.before).toBe(null);
  });

  it('is bounded by its text too', () => {
    const window = new ItemWindow({ items: 1e9, chars: 100_000 });
    const long = Array.from({ length: 20 }, (_, n) => text(`t${n}`, 'x'.repeat(10_000)));
    window.replace({ items: long, before: null, after: null });
    window.trim('start');
    expect(window.chars).toBeLessThanOrEqual(100_000);
    expect(keys(window).at(-1)).toBe('t19');
  });

  it('stays whole and in order under anything', () => {
    const size = 200;
    const step = fc.oneof(
      fc.record({ do: fc.constant('before' as const), overlap: fc.nat(5) }),
      fc.record({ do: fc.constant('after' as const), overlap: fc.nat(5) }),
      fc.record({ do: fc.constant('trim' as const), end: fc.constantFrom('start' as const, 'end' as const) }),
      fc.record({ do: fc.constant('around' as const), at: fc.nat(size - 1) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const window = new ItemWindow({ items: 50, chars: 1e9 });
        window.replace(pageOf(size - 30, size, size));
        for (const one of steps) {
          const numbers = keys(window).map((key) => Number(key.slice(1)));
          const [low, high] = [numbers[0] ?? 0, (numbers.at(-1) ?? 0) + 1];
          if (one.do === 'before' && window.before)
            window.merge('before', pageOf(Math.max(0, low - 20), Math.min(size, low + one.overlap), size));
          if (one.do === 'after' && window.after)
            window.merge('after', pageOf(Math.max(0, high - one.overlap), Math.min(size, high + 20), size));
          if (one.do === 'trim') window.trim(one.end);
          if (one.do === 'around') window.replace(pageOf(Math.max(0, one.at - 15), Math.min(size, one.at + 15), size));
          const now = keys(window).map((key) => Number(key.slice(1)));
          const start = now[0] ?? 0;
          expect(now).toEqual(now.map((_, n) => start + n));
          expect(window.before).toBe(start > 0 ? `c:i${start}` : null);
          const end = start + now.length;
          expect(window.after).toBe(end < size ? `c:i${end - 1}` : null);
          expect(now.every((n, index) => window.indexOf(`i${n}`) === index)).toBe(true);
        }
      }),
    );
  });
});
