/** Whether a run may go as far as it alone is concerned. Pure; what refers to it from elsewhere is looked at afterwards. */
import { isTerminal } from '../../protocol/index.ts';
import { processProof, runIdTime } from '../runs/index.ts';
import type { Kept } from './keep-reason.ts';
import type { RunFacts } from './run-facts.ts';

export const DAY_MS = 24 * 60 * 60_000;

/** Clocks are set, and time zones mistaken: a run is only taken for as old as it is if its clock was wrong by this much. */
export const CLOCK_SLACK_MS = DAY_MS;

/** No run is older than this program. A clock that has lost its battery begins in 1970. */
const FIRST_RUN_AT = Date.UTC(2025, 0, 1);

export interface RetentionRule {
  /** Days a run is kept after its end; 0: for ever. */
  days: number;
  /** Epoch milliseconds. */
  now: number;
}

/** A run made this recently cannot have ended long ago, whatever is in its folder. */
export function isTooYoung(runId: string, rule: RetentionRule): boolean {
  return rule.days === 0 || rule.now - runIdTime(runId) < rule.days * DAY_MS + CLOCK_SLACK_MS;
}

/** The first reason to keep the run; `undefined` when it may go. */
export function whyKept(facts: RunFacts, rule: RetentionRule): Kept | undefined {
  const { view, lease } = facts;
  const isHeld = lease !== 'missing' && lease !== 'stale';
  if (!isTerminal(view.state)) return { reason: isHeld ? 'non-terminal' : 'lost' };
  if (view.state === 'paused') return { reason: 'resumable' };
  if (view.state === 'partial') return { reason: 'needs-attention' };
  if (isHeld) return { reason: 'lease-held', detail: `its lease is ${lease}` };
  if (facts.isMarked) return { reason: 'active-index' };
  if (processProof(view).state === 'unknown') return { reason: 'unproven-processes' };
  if (facts.hasHandoff || facts.hasWorktree) return { reason: 'handoff-reference' };
  const tooYoung = ageDoubt(facts, rule);
  if (tooYoung) return tooYoung;
  if (facts.sessionLock !== 'missing' && facts.sessionLock !== 'stale') return { reason: 'session-in-use' };
  return undefined;
}

/** Its end, its id and the times of its files have to agree that it is old. */
function ageDoubt({ runId, endedAt, changedAt }: RunFacts, { days, now }: RetentionRule): Kept | undefined {
  const madeAt = runIdTime(runId);
  if (endedAt === null) return { reason: 'unknown-age', detail: 'its end has no time' };
  if (Math.min(endedAt, madeAt) < FIRST_RUN_AT)
    return { reason: 'unknown-age', detail: 'it is dated before there was such a thing' };
  if (Math.max(endedAt, madeAt, changedAt) > now) return { reason: 'unknown-age', detail: 'it is dated in the future' };
  if (endedAt < madeAt - CLOCK_SLACK_MS)
    return { reason: 'unknown-age', detail: 'it is said to have ended before it began' };
  const age = now - Math.max(endedAt, madeAt, changedAt);
  return days === 0 || age < days * DAY_MS + CLOCK_SLACK_MS ? recent({ days }) : undefined;
}

export function recent({ days }: Pick<RetentionRule, 'days'>): Kept {
  return days === 0 ? { reason: 'recent', detail: 'runs are kept for ever' } : { reason: 'recent' };
}
