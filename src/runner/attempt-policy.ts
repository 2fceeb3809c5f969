/** What is done when a child fails before its work is over: try the same again, another model, or nothing. Pure. */
import type { ChildOutcome } from '../core/children/index.ts';
import type { ChildPlan } from '../protocol/index.ts';

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
  | { next: 'fallback'; model: string; delayMs: 0 }
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
  const model = plan.modelIsExplicit
    ? undefined
    : plan.agent.fallbackModels?.find((name) => !facts.tried.includes(name));
  return model !== undefined && isProviderProblem(outcome) ? { next: 'fallback', model, delayMs: 0 } : { next: 'none' };
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
