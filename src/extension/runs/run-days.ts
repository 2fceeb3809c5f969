/** Calendar days of the person's own time zone, by which ended runs are grouped. */

export interface Day {
  /** `2026-11-30` */
  key: string;
  /** 0: today; 1: yesterday. Never negative: a clock that was set back makes no tomorrow. */
  daysAgo: number;
  /** Noon of the day, in milliseconds: safe to format whatever the clocks did that night. */
  noon: number;
}

export function dayOf(time: number, now: number): Day {
  const noon = noonOf(Math.min(time, now));
  const date = new Date(noon);
  const two = (n: number) => String(n).padStart(2, '0');
  const key = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return { key, daysAgo: Math.round((noonOf(now) - noon) / DAY_MS), noon };
}

const DAY_MS = 24 * 60 * 60 * 1000;

function noonOf(time: number): number {
  return new Date(time).setHours(12, 0, 0, 0);
}
