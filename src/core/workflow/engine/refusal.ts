import { type RuleFault, spellOut } from '../../../protocol/index.ts';
import type { ErrorKind } from './calls.ts';

/** Thrown into the script at the place of the call; nothing was started. */
export class Refusal extends Error {
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export function refuse(message: string): never {
  throw new Refusal('validation', message);
}

/** Throws the first faults of a call, with where they are when the call takes many things. */
export function refuseFaults(faults: readonly RuleFault[], where = ''): void {
  if (faults.length === 0) return;
  const shown = faults.slice(0, 5).map((fault) => spellOut(fault.message));
  if (faults.length > shown.length) shown.push(`(${faults.length - shown.length} more)`);
  refuse(`${where}${shown.join(' ')}`);
}
