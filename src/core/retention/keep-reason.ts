/** Why a run stays. Codes are stable: scripts read them from `pi-lanes cleanup --json`. */

export const KEEP_REASONS = [
  'identity-mismatch',
  'invalid-status',
  'non-terminal',
  'lost',
  'resumable',
  'needs-attention',
  'lease-held',
  'active-index',
  'unproven-processes',
  'handoff-reference',
  'unknown-age',
  'recent',
  'session-in-use',
  'resume-reference',
  'nested-reference',
  'workflow-reference',
] as const;
export type KeepReason = (typeof KEEP_REASONS)[number];

export interface Kept {
  reason: KeepReason;
  /** What exactly, where there is more to say. */
  detail?: string;
}

const WORDS: Readonly<Record<KeepReason, string>> = {
  'identity-mismatch': 'its folder does not hold the run it is named after',
  'invalid-status': 'what is on disk does not say what became of it',
  'non-terminal': 'it has not ended',
  lost: 'its runner is gone; it can be continued',
  resumable: 'it was interrupted and can be resumed',
  'needs-attention': 'it ended in part; somebody should look',
  'lease-held': 'a process still holds it',
  'active-index': 'it is marked as live',
  'unproven-processes': 'it is not proven that its processes are gone',
  'handoff-reference': 'it has something to hand over',
  'unknown-age': 'its age is not certain',
  recent: 'it is recent',
  'session-in-use': 'its session is in use',
  'resume-reference': 'another run goes on in its session',
  'nested-reference': 'it belongs to another run that stays',
  'workflow-reference': 'it belongs to a workflow that stays',
};

export function describeReason({ reason, detail }: Kept): string {
  return detail === undefined ? WORDS[reason] : `${WORDS[reason]}: ${detail}`;
}
