/** What a script wants done outside, and what came of it. */
import type { Call } from './calls.ts';

/** Something to be done outside. */
export type Effect =
  | { type: 'launch'; id: number; key: string; params: Record<string, unknown> }
  | Extract<Call, { type: 'steer' | 'host' | 'status' | 'state.get' | 'state.set' }>;

/** What came of an effect: plain JSON. The record of a run is made of these. */
export interface Fact {
  id: number;
  key: string;
  /** Fingerprint of what was asked, so that a replay sees when the script asks for something else. */
  asked?: string;
  ok: boolean;
  /** A `ChildView`, a receipt, a host result, a status, a stored value; none: undefined. */
  value?: unknown;
  /** Why it failed. */
  message?: string;
}

/** A fact of which is known what it answers. */
export interface AskedFact extends Fact {
  asked: string;
}
