/** From what call, agent, settings and parent say to the models a child may use, in the order they are tried. Pure. */
import { describeError, type ErrorValue, LanesError } from '../../protocol/index.ts';
import type { ModelExclusion } from './model-exclusions.ts';
import { judgeScope, type ModelScope } from './model-scope.ts';
import { type ModelEntry, type ModelSource, resolveModel } from './resolve-model.ts';
import { isAbove, splitLevel, type ThinkingLevel } from './thinking-level.ts';

/** What each of them says, by names as `resolveModel` takes them. `inherit`, blank or absent: it says nothing. */
export interface ModelWishes {
  /** For this run alone: then no other model is ever used instead. */
  call?: string | undefined;
  agent?: string | undefined;
  /** Settings: for agents that name none. */
  usual?: string | undefined;
  /** What the parent uses now. */
  parent?: string | undefined;
  fallbacks?: readonly string[] | undefined;
  /** A level behind a name counts for that name, the call's level for all. `false`: none is asked for. */
  thinking?: {
    call?: ThinkingLevel | undefined;
    agent?: ThinkingLevel | false | undefined;
    usual?: ThinkingLevel | undefined;
  };
}

/** What bounds the choice. */
export interface ModelRules {
  /** Whose rules of the scope hold. */
  agent: string;
  /** The usable models; `null`: nobody has asked Pi, and names are taken as they stand. */
  registry: readonly ModelEntry[] | null;
  /** What Pi takes when nobody names a model. */
  piDefault?: { model: string | null; thinking: ThinkingLevel | null } | undefined;
  preferredProvider?: string | undefined;
  scope?: ModelScope | undefined;
  maxThinking?: ThinkingLevel | undefined;
  /** Those that hold now. */
  exclusions?: readonly ModelExclusion[] | undefined;
}

export interface ModelCandidate {
  /** `provider/id`; null: Pi takes its own default. */
  model: string | null;
  /** Null: none is asked for. */
  thinking: ThinkingLevel | null;
  source: ModelSource;
}

export interface ModelChoice {
  /** The first is the one that is used, the others in its place when its provider fails. */
  candidates: [ModelCandidate, ...ModelCandidate[]];
  /** Somebody named the model for this run: there are no other candidates. */
  isExplicit: boolean;
  /** What was left out or goes beyond the rules, for people. */
  warnings: ErrorValue[];
}

interface Wish {
  name: string | null;
  source: ModelSource;
}

/** @throws LanesError when the model that was named cannot be used, or none can */
export function chooseModels(wishes: ModelWishes, rules: ModelRules): ModelChoice {
  const primary = primaryOf(wishes);
  const isExplicit = primary.source === 'explicit';
  const fallbacks = isExplicit ? [] : (wishes.fallbacks ?? []).filter(says);
  const warnings: ErrorValue[] = [];
  const candidates: ModelCandidate[] = [];
  let refused: ErrorValue | undefined;
  for (const wish of [primary, ...fallbacks.map((name): Wish => ({ name, source: 'fallback' }))]) {
    const judged = judge(wish, wishes, rules);
    if ('error' in judged) {
      // One that others can stand in for is left out, and that is told.
      refused ??= judged.error;
      if (isExplicit || isBeyondBounds(judged.error)) throw new LanesError(judged.error);
      const { message: reason } = judged.error;
      warnings.push(describeError('model_skipped', { name: wish.name ?? 'default', reason }));
    } else if (!candidates.some(({ model }) => model === judged.candidate.model)) {
      candidates.push(judged.candidate);
      warnings.push(...judged.warnings);
    }
  }
  const [first, ...others] = candidates;
  if (first) return { candidates: [first, ...others], isExplicit, warnings };
  if (fallbacks.length > 0 && warnings.length > 1)
    throw new LanesError(
      describeError('model_none:left', { reasons: warnings.map(({ message }) => message).join(' ') }),
    );
  throw new LanesError(refused ?? describeError('model_none'));
}

function says(name: string | undefined): name is string {
  return name !== undefined && name.trim() !== '' && name !== 'inherit';
}

function primaryOf({ call, agent, usual, parent }: ModelWishes): Wish {
  if (says(call)) return { name: call, source: 'explicit' };
  if (says(agent)) return { name: agent, source: 'configured' };
  // An agent that wants its parent's model gets it, whatever is usual.
  if (agent === 'inherit' && says(parent)) return { name: parent, source: 'inherited' };
  if (says(usual)) return { name: usual, source: 'configured' };
  return says(parent) ? { name: parent, source: 'inherited' } : { name: null, source: 'inherited' };
}

/** Rules that somebody has set are never evaded by taking another model. */
function isBeyondBounds({ code }: ErrorValue): boolean {
  return code === 'model_out_of_scope' || code === 'thinking_too_high';
}

type Judged = { error: ErrorValue } | { candidate: ModelCandidate; warnings: ErrorValue[] };

function judge({ name, source }: Wish, wishes: ModelWishes, rules: ModelRules): Judged {
  const { registry, preferredProvider, piDefault } = rules;
  let model: string | null = null;
  let behind: ThinkingLevel | undefined;
  if (name !== null) {
    if (registry?.length === 0) return { error: describeError('model_none') };
    const resolution = resolveModel({ request: name, registry: registry ?? [], preferredProvider, source });
    if (!resolution.ok) return { error: resolution.error };
    model = resolution.model;
    behind = resolution.thinking;
  } else if (registry?.length === 0) return { error: describeError('model_none') };
  const thinking = levelOf(wishes, behind);
  // Without a name it is Pi that decides: what it will take is judged all the same.
  const real = model ?? piDefault?.model ?? null;
  const shown = real ?? 'default';
  const level = thinking ?? piDefault?.thinking ?? null;
  const { maxThinking } = rules;
  if (maxThinking !== undefined && level !== null && isAbove(level, maxThinking))
    return { error: describeError('thinking_too_high', { level, name: shown, max: maxThinking }) };
  const excluded = rules.exclusions?.find((one) => one.model === real);
  const warnings: ErrorValue[] = [];
  if (excluded) {
    const until = new Date(excluded.until).toISOString();
    const error = describeError('model_excluded', { name: shown, until, reason: excluded.evidence });
    // Nobody has named it, and there is nothing else: that is told, and may work again.
    if (source !== 'inherited' || (wishes.fallbacks ?? []).some(says)) return { error };
    warnings.push(error);
  }
  if (real !== null) {
    const parentModel = says(wishes.parent) ? splitLevel(wishes.parent).model : undefined;
    const verdict = judgeScope(rules.scope, { model: real, source, agent: rules.agent, parentModel });
    if (!verdict.allowed) {
      const error = describeError('model_out_of_scope', { name: real, allow: verdict.allow.join(', ') });
      if (verdict.severity === 'error') return { error };
      warnings.push(error);
    }
  }
  return { candidate: { model, thinking, source }, warnings };
}

function levelOf({ thinking = {} }: ModelWishes, behind: ThinkingLevel | undefined): ThinkingLevel | null {
  const named = thinking.call ?? behind;
  if (named !== undefined) return named;
  return thinking.agent === false ? null : (thinking.agent ?? thinking.usual ?? null);
}
