/** Higher limits for a workflow that has ended by one: what is proposed, and what a typed one means. Pure. */
import type { NewBounds, ReachedLimit } from '../../client/index.ts';
import { timeLimit } from '../../core/settings/index.ts';

const MS_PER_MINUTE = 60_000;

/** Twice as much as before, and enough for what was refused. As it is typed: minutes, agents, tokens or US dollars. */
export function proposedLimit(reached: ReachedLimit): string {
  switch (reached.kind) {
    case 'time':
      return shortNumber((2 * Math.max(reached.limit, reached.used)) / MS_PER_MINUTE);
    case 'spawns':
      return String(Math.max(2 * reached.limit, reached.wanted));
    case 'tokens':
      return String(2 * Math.max(reached.limit, Math.ceil(reached.used)));
    case 'costUsd':
      return shortNumber(2 * Math.max(reached.limit, reached.used));
    default:
      return reached satisfies never;
  }
}

/** What is used up, in the unit in which the limit is typed. */
export function usedWords(reached: ReachedLimit): string {
  const { kind, used } = reached;
  if (kind === 'time') return shortNumber(used / MS_PER_MINUTE);
  return kind === 'costUsd' ? shortNumber(used) : String(used);
}

/**
 * A typed limit; `undefined`: it is none, or not more than is used. Time can be typed as `0` for none.
 */
export function readLimit(text: string, reached: ReachedLimit): number | null | undefined {
  const typed = text.trim();
  if (!/^\d+(\.\d+)?$/.test(typed)) return undefined;
  if (reached.kind === 'time') {
    const ms = minutesOf(typed);
    return ms === null || (ms !== undefined && ms > reached.used) ? ms : undefined;
  }
  const value = Number(typed);
  if (reached.kind === 'costUsd') return value > reached.used ? value : undefined;
  const least = reached.kind === 'spawns' ? reached.wanted : reached.used + 1;
  return Number.isSafeInteger(value) && value >= least ? value : undefined;
}

function minutesOf(typed: string): number | null | undefined {
  try {
    return timeLimit(typed, { name: 'minutes', unit: 'minutes', zeroIsNone: true });
  } catch {
    return undefined;
  }
}

/** Lays a limit over those that were raised before. `budget`: the usage budget that holds now. */
export function withLimit(
  bounds: NewBounds,
  { kind }: ReachedLimit,
  value: number | null,
  budget: NewBounds['usageBudget'],
): NewBounds {
  if (kind === 'time') return { ...bounds, timeoutMs: value };
  if (value === null) return bounds;
  if (kind === 'spawns') return { ...bounds, maxSubagentSpawnsPerRun: value };
  const before = bounds.usageBudget ?? budget ?? {};
  return { ...bounds, usageBudget: { ...before, [kind]: { ...before[kind], hard: value } } };
}

/** At most six digits, none of them needless. */
function shortNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}
