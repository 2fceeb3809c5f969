/** When rows are drawn again: at once, and never so often that the editor holds them back. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Refreshes } from '../../../src/extension/trees/runs/refreshes.ts';

/** The editor's own quiet time after a wish for a drawing: what comes within it waits until nothing comes. */
const EDITOR_QUIET_MS = 200;

let drawn: { at: number; nodes: string[] | undefined }[];
let refreshes: Refreshes<string>;
beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  drawn = [];
  refreshes = new Refreshes((nodes) => drawn.push({ at: Date.now(), nodes }));
});
afterEach(() => {
  refreshes.dispose();
  vi.useRealTimers();
});

describe('refreshes', () => {
  it('draws what comes alone at once', () => {
    refreshes.ask(['a']);
    vi.advanceTimersByTime(1000);
    refreshes.ask(['b']);
    expect(drawn).toEqual([
      { at: 0, nodes: ['a'] },
      { at: 1000, nodes: ['b'] },
    ]);
  });

  it('gathers what comes in between, each row once', () => {
    for (const row of ['a', 'b', 'c', 'b']) refreshes.ask([row]);
    expect(refreshes.atRest).toBe(false);
    vi.runAllTimers();
    expect(drawn.map(({ nodes }) => nodes)).toEqual([['a'], ['b', 'c']]);
    expect(refreshes.atRest).toBe(true);
  });

  it('draws a stream of changes while it goes on, with the quiet between that the editor wants', () => {
    for (let at = 0; at < 3000; at += 40) {
      refreshes.ask(['a']);
      vi.advanceTimersByTime(40);
    }
    expect(drawn.length).toBeGreaterThan(10);
    const apart = drawn.slice(1).map(({ at }, n) => at - (drawn[n]?.at ?? 0));
    expect(Math.min(...apart)).toBeGreaterThan(EDITOR_QUIET_MS);
    expect(Math.max(...apart)).toBeLessThan(EDITOR_QUIET_MS + 50);
  });

  it('draws everything when a row and everything are asked for together', () => {
    refreshes.ask(['a']);
    refreshes.ask(['b']);
    refreshes.ask();
    refreshes.ask(['c']);
    vi.runAllTimers();
    expect(drawn.map(({ nodes }) => nodes)).toEqual([['a'], undefined]);
  });

  it('takes no turn for nothing, and draws nothing after its end', () => {
    refreshes.ask([]);
    expect(refreshes.atRest).toBe(true);
    refreshes.ask(['a']);
    refreshes.ask(['b']);
    refreshes.dispose();
    vi.runAllTimers();
    expect(drawn).toHaveLength(1);
  });
});
