/** Everything that a run of a script depended on: given again, in the same order, it gives the same run. Plain JSON. */
import { hash } from 'node:crypto';
import { canonicalJson, type WorkflowAsk } from '../../../protocol/index.ts';
import type { StepBreak, StepInput } from './calls.ts';
import type { EndCause } from './conclusion.ts';
import type { ConductorSettings } from './conductor.ts';
import type { Effect, Fact } from './effects.ts';

export interface RecordedStep {
  /** Milliseconds since 1970. */
  at: number;
  facts: Fact[];
  interruptAt?: NonNullable<StepInput['interruptAt']>;
  /** The worker had to be ended in the middle: nothing that the script did in this step counts. */
  killed?: true;
}

export interface ExecutionRecord {
  version: 1;
  script: string;
  /** JSON text. */
  args?: string;
  state: boolean;
  seed: number;
  settings: ConductorSettings;
  steps: RecordedStep[];
  /** What settled after the body had ended. */
  late: { at: number; facts: Fact[] }[];
  /** Why it ended, where the steps do not tell. */
  end: EndCause | undefined;
}

/** Whether a break can be repeated by the steps alone. */
export function isInterrupt(broken: StepBreak): broken is Extract<StepBreak, { polls: number }> {
  return 'polls' in broken;
}

/** Two effects that ask for the same have the same fingerprint. */
export function askedOf({ id: _id, ...asked }: Effect): string {
  return hash('sha256', canonicalJson(asked)).slice(0, 16);
}

/** What a script asks for, as records have it. */
export function askOf(effect: Effect): WorkflowAsk {
  return { id: effect.id, type: effect.type, key: keyOf(effect), asked: askedOf(effect) };
}

/** The key that an effect is known by. */
export function keyOf(effect: Effect): string {
  return effect.type === 'status' ? effect.target : effect.key;
}
