/** Where what a script does now contradicts what is recorded of it. */
import type { WorkflowAsk } from '../../../protocol/index.ts';
import type { EndCause } from './conclusion.ts';
import type { Conductor } from './conductor.ts';
import type { Fact } from './effects.ts';
import { askedOf, keyOf } from './record.ts';

type Diverged = Extract<EndCause, { type: 'diverged' }>;

export function diverged(message: string): Diverged {
  return { type: 'diverged', message };
}

/** An answer to something that the script does not ask for now. */
export function contradictionOf(conductor: Conductor, fact: Fact): Diverged | undefined {
  const effect = conductor.effectOf(fact.id);
  if (!effect || keyOf(effect) !== fact.key) {
    const now = effect ? `'${keyOf(effect)}'` : 'nothing';
    return diverged(`The record answers '${fact.key}' as call ${fact.id}; the script now asks for ${now} there.`);
  }
  const asked = askedOf(effect);
  if (fact.asked === undefined || fact.asked === asked) return undefined;
  return otherParameters(fact.key, asked, fact.asked);
}

export function otherParameters(key: string, now: string, then: string): Diverged {
  return diverged(
    `The script asks for '${key}' with other parameters than the record answers: fingerprint ${now} now, ${then} then.`,
  );
}

/**
 * A step that asks for something else than it did.
 * @param whole whether the record has all that the step asked for; one that was interrupted asks for more when it may go on
 */
export function asksContradiction(
  step: number,
  then: readonly WorkflowAsk[],
  now: readonly WorkflowAsk[],
  whole: boolean,
): Diverged | undefined {
  const count = whole ? Math.max(then.length, now.length) : then.length;
  for (let index = 0; index < count; index++) {
    const before = then[index];
    const after = now[index];
    if (before && after && sameCall(before, after)) {
      if (before.asked !== after.asked) return otherParameters(after.key, after.asked, before.asked);
    } else
      return diverged(
        `In step ${step} the script now asks for ${named(after)}; the record has ${named(before)} there.`,
      );
  }
  return undefined;
}

function sameCall(one: WorkflowAsk, other: WorkflowAsk): boolean {
  return one.id === other.id && one.type === other.type && one.key === other.key;
}

function named(ask: WorkflowAsk | undefined): string {
  return ask ? `'${ask.key}' (${ask.type} ${ask.id}, fingerprint ${ask.asked})` : 'nothing';
}
