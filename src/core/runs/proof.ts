/**
 * Whether it is certain that no process of a run can still write. Derived from what was observed, never from an end time, a
 * result or a pid.
 */
import { type ChildView, isTerminal, type RunView } from '../../protocol/index.ts';

export type ProofReason =
  /** A process was or may have been started whose end nobody has seen. */
  | 'writer-close-unverified'
  /** It ended, but whether everything it started is gone could not be told. */
  | 'process-tree-unverified';

export type ProcessProof =
  /** The run is not over. */
  | { state: 'pending'; reason: null }
  /** It ended before any process was started. */
  | { state: 'not-started'; reason: null }
  /** Every process was seen to end, or nothing that carries its mark was found, and nothing it had started is left. */
  | { state: 'observed'; reason: null }
  | { state: 'unknown'; reason: ProofReason };

export function processProof(view: RunView): ProcessProof {
  return proofOf(
    view.state,
    view.children.flatMap((child) => child.processes),
  );
}

/** The same of one child; the others may be at work. */
export function childProof({ state, processes }: ChildView): ProcessProof {
  return proofOf(state, processes);
}

function proofOf(state: RunView['state'], processes: ChildView['processes']): ProcessProof {
  if (!isTerminal(state)) return { state: 'pending', reason: null };
  if (processes.length === 0) return { state: 'not-started', reason: null };
  if (processes.some(({ tree }) => tree === 'pending')) return { state: 'unknown', reason: 'writer-close-unverified' };
  if (processes.some(({ tree }) => tree === 'unknown')) return { state: 'unknown', reason: 'process-tree-unverified' };
  return { state: 'observed', reason: null };
}

/** The proof as a sentence for people. */
export function describeProof(proof: ProcessProof): string {
  switch (proof.state) {
    case 'pending':
      return 'not proven gone: no end of the run is recorded';
    case 'not-started':
      return 'none was started';
    case 'observed':
      return 'all proven gone';
    case 'unknown':
      return proof.reason === 'writer-close-unverified'
        ? 'not proven gone: the end of one was not seen'
        : 'not proven gone: what one had started could not be checked';
    default:
      return proof satisfies never;
  }
}
