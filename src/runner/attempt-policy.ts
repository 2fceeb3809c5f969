/** What is done when a child fails before its work is over: try the same again, another model, or nothing. Pure. */
import type { ChildOutcome } from '../core/children/index.ts';
import type { ChildPlan, JournalLine } from '../protocol/index.ts';

/** A child that exits this soon without a sign of work failed to start. */
export const COLD_START_MS = 2000;
export const COLD_START_DELAYS_MS = [250, 750, 1500] as const;

/** Problems on the provider's side, by the words providers use for them. */
const PROVIDER_PROBLEM =
  /\b(429|401|402|403|408|5\d\d)\b|quota|rate.?limit|overloaded|unauthorized|api key|billing|timed? ?out|timeout|connection|econnre|socket|network|terminated|stream ended|server_error|unavailable/i;
const CONTEXT_OVERFLOW =
  /context.{0,20}(length|window|overflow|limit)|too many tokens|maximum context|prompt is too long/i;

export type NextStep =
  | { next: 'retry'; delayMs: number }
  | { next: 'fallback'; plan: ChildPlan; delayMs: 0 }
  | { next: 'continue'; delayMs: 0 }
  | { next: 'none' };

export interface AttemptFacts {
  outcome: ChildOutcome;
  /** Milliseconds from the start of the process to the outcome. */
  tookMs: number;
  plan: ChildPlan;
  /** Cold-start retries so far. */
  coldStarts: number;
  /** Models that were tried already, the present one included. */
  tried: readonly string[];
  /** Whether an abort has been recovered from once. */
  recovered: boolean;
}

export function nextStep(facts: AttemptFacts): NextStep {
  const { outcome, plan } = facts;
  const coldDelay = COLD_START_DELAYS_MS[facts.coldStarts];
  if (outcome.exited && outcome.inactive && facts.tookMs <= COLD_START_MS && coldDelay !== undefined) {
    return { next: 'retry', delayMs: coldDelay };
  }
  if (canContinue(facts)) return { next: 'continue', delayMs: 0 };
  const other = fallbackAfter(plan, facts.tried);
  return other && isProviderProblem(outcome) ? { next: 'fallback', plan: other, delayMs: 0 } : { next: 'none' };
}

/** The same with the next model that was not tried. */
function fallbackAfter(plan: ChildPlan, tried: readonly string[]): ChildPlan | undefined {
  const next = plan.modelIsExplicit ? undefined : plan.fallbacks?.find(({ model }) => !tried.includes(model));
  if (next === undefined) return undefined;
  const { thinking: _level, ...rest } = plan;
  return { ...rest, ...next };
}

/** How far the attempts at a child have come. */
export interface AttemptsSoFar {
  /** With the model that is to be used now. */
  plan: ChildPlan;
  coldStarts: number;
  tried: string[];
  recovered: boolean;
}

/** What earlier runners of the run have tried: a model that failed is not taken again, and what is done once stays done. */
export function attemptsSoFar(plan: ChildPlan, earlier: readonly JournalLine[], index: number): AttemptsSoFar {
  let soFar: AttemptsSoFar = { plan, coldStarts: 0, tried: [], recovered: false };
  for (const line of earlier) {
    if (line.type !== 'child.attempt.failed' || line.child !== index) continue;
    const { model, next } = line;
    const tried = model === null || soFar.tried.includes(model) ? soFar.tried : [...soFar.tried, model];
    const fallback = next === 'fallback' ? fallbackAfter(soFar.plan, tried) : undefined;
    soFar = {
      plan: fallback ?? soFar.plan,
      coldStarts: soFar.coldStarts + (next === 'retry' ? 1 : 0),
      tried,
      recovered: soFar.recovered || next === 'continue',
    };
  }
  return soFar;
}

/** Never after a tool was called (its work would be done twice), never when the context is full. */
function isProviderProblem({ state, error, progress }: ChildOutcome): boolean {
  if (state !== 'failed' || !error || progress.toolCalls > 0 || CONTEXT_OVERFLOW.test(error.message)) return false;
  return (
    error.code === 'child_empty_output' || (error.code === 'child_model_error' && PROVIDER_PROBLEM.test(error.message))
  );
}

/** An abort nobody asked for, after useful work, with nothing open: the same session can simply go on. Once. */
function canContinue({ outcome, recovered }: AttemptFacts): boolean {
  const { stopReason, text, progress, exited } = outcome;
  return (
    !recovered && !exited && stopReason === 'aborted' && text === '' && progress.tool === null && progress.turns > 1
  );
}
