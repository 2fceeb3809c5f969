import { describe, expect, it } from 'vitest';
import { dayOf } from '../../../src/extension/runs/run-days.ts';

const at = (...parts: [number, number, number, number?, number?]) => new Date(...parts).getTime();
const NOW = at(2026, 10, 30, 9, 0);

describe('the day of a run', () => {
  it.each([
    ['the same minute', NOW, 0],
    ['midnight', at(2026, 10, 30, 0, 0), 0],
    ['a minute before midnight', at(2026, 10, 29, 23, 59), 1],
    ['the evening before the last', at(2026, 10, 28, 23, 59), 2],
    ['another month', at(2026, 9, 31, 12), 30],
    ['another year', at(2025, 10, 30, 12), 365],
  ])('%s', (_, time, daysAgo) => {
    expect(dayOf(time, NOW).daysAgo).toBe(daysAgo);
  });

  it('is named by the calendar of the person', () => {
    expect(dayOf(at(2026, 0, 5, 0, 30), NOW).key).toBe('2026-01-05');
    expect(dayOf(at(2026, 0, 5, 23, 30), NOW).key).toBe('2026-01-05');
  });

  it('of a run from the future is today', () => {
    expect(dayOf(at(2026, 11, 24), NOW)).toEqual(dayOf(NOW, NOW));
  });

  it('counts days, not hours, over every change of the clocks', () => {
    for (let day = 1; day < 365; day++) {
      const now = at(2026, 0, 1 + day, 0, 5);
      expect(dayOf(at(2026, 0, day, 23, 55), now).daysAgo, `day ${day}`).toBe(1);
    }
  });
});
