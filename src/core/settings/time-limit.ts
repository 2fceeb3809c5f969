/** Time limits as people give them: in seconds or minutes, with fractions, `0` for none. */
import { LanesError } from '../../protocol/index.ts';

/** Largest time limit in milliseconds: what timers take. */
export const MAX_LIMIT_MS = 2_147_483_647;

const UNIT_MS = { seconds: 1000, minutes: 60_000 } as const;

export interface TimeLimitRule {
  /** As the person knows it: an option or a setting. */
  name: string;
  unit: keyof typeof UNIT_MS;
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
  const ms = Math.round(given * UNIT_MS[unit]);
  if (ms >= 1 && ms <= MAX_LIMIT_MS) return ms;
  const least = unit === 'seconds' ? '0.001' : '0.0001';
  const most = Math.floor(MAX_LIMIT_MS / UNIT_MS[unit]);
  throw new LanesError(
    'launch_invalid',
    `${name} is ${JSON.stringify(value)}.`,
    `It must be a number of ${unit} from ${least} to ${most}${zeroIsNone ? ', or 0 for no limit' : ''}.`,
  );
}
