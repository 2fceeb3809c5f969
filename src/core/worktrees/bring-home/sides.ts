/** One path on three sides: where both began, what is here, what comes. Pure. */

/** As git has it; `undefined` in place of one: it is not there. */
export interface Side {
  /** 100644, 100755, 120000 (link), 160000 (submodule). */
  mode: string;
  hash: string;
}

export type Meeting =
  /** What comes is here already. */
  | { kind: 'same' }
  /** Nothing was done here: what comes is taken. */
  | { kind: 'take'; side: Side | undefined }
  /** Nothing comes. */
  | { kind: 'leave' }
  /** Both have changed a text, which only its lines can tell. */
  | { kind: 'lines'; mode: string; ours: Side; theirs: Side; base: Side }
  | { kind: 'conflict'; reason: ConflictReason };

export type ConflictReason =
  | 'both-added'
  | 'deleted-here'
  | 'deleted-there'
  | 'different-kinds'
  | 'lines'
  | 'submodule'
  | 'in-the-way';

export function meet(base: Side | undefined, ours: Side | undefined, theirs: Side | undefined): Meeting {
  if (isSame(ours, theirs)) return { kind: 'same' };
  if (isSame(base, theirs)) return { kind: 'leave' };
  if ([base, ours, theirs].some((side) => side?.mode === '160000')) return { kind: 'conflict', reason: 'submodule' };
  if (isSame(base, ours)) return { kind: 'take', side: theirs };
  if (!base) return { kind: 'conflict', reason: 'both-added' };
  if (!ours) return { kind: 'conflict', reason: 'deleted-here' };
  if (!theirs) return { kind: 'conflict', reason: 'deleted-there' };
  const kinds = new Set([base, ours, theirs].map(({ mode }) => mode.slice(0, 3)));
  if (kinds.size > 1 || !kinds.has('100')) return { kind: 'conflict', reason: 'different-kinds' };
  const mode = ours.mode === base.mode ? theirs.mode : ours.mode;
  if (ours.hash === base.hash) return { kind: 'take', side: { mode, hash: theirs.hash } };
  if (theirs.hash === base.hash || theirs.hash === ours.hash) return { kind: 'take', side: { mode, hash: ours.hash } };
  return { kind: 'lines', mode, ours, theirs, base };
}

function isSame(a: Side | undefined, b: Side | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && a.mode === b.mode && a.hash === b.hash);
}
