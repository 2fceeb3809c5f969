/** Time limits as people give them: in seconds or minutes, with fractions, `0` for none. */
import { lanesError } from '../../protocol/index.ts';

/** Largest time limit in milliseconds: what timers take. */
export const MAX_LIMIT_MS = 2_147_483_647;

/** `least` is what does not round to nothing; a value that is refused is explained by `rule`, or by `ruleOrNone`. */
const UNITS = {
  seconds: { ms: 1000, least: '0.001', rule: 'seconds', ruleOrNone: 'seconds-or-none' },
  minutes: { ms: 60_000, least: '0.0001', rule: 'minutes', ruleOrNone: 'minutes-or-none' },
} as const;

export interface TimeLimitRule {
  /** As the person knows it: an option or a setting. */
  name: string;
  unit: keyof typeof UNITS;
  /** `0` means no limit; otherwise it is refused like any other value that is too small. */
  zeroIsNone: boolean;
}

/**
 * The limit in whole milliseconds; null: none. A text must be a plain decimal number. Throws `launch_invalid` naming value and
 * rule: a limit so small that it rounds to nothing must not come to mean that there is none.
 */
export function timeLimit(value: unknown, { name, unit, zeroIsNone }: TimeLimitRule): number | null {
  const isPlain = typeof value === 'number' || (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value));
  const given = isPlain ? Number(value) : Number.NaN;
  if (given === 0 && zeroIsNone) return null;
  const { ms: unitMs, least, rule, ruleOrNone } = UNITS[unit];
  const ms = Math.round(given * unitMs);
  if (ms >= 1 && ms <= MAX_LIMIT_MS) return ms;
  const most = Math.floor(MAX_LIMIT_MS / unitMs);
  throw lanesError(`launch_invalid:${zeroIsNone ? ruleOrNone : rule}`, {
    name,
    value: JSON.stringify(value) ?? 'undefined',
    least,
    most,
  });
}
