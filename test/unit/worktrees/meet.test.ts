/** Three sides of one path: nothing that was changed on either is ever lost without a word. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { meet, type Side } from '../../../src/core/worktrees/index.ts';

const side = fc.option(
  fc.record({ mode: fc.constantFrom('100644', '100755', '120000', '160000'), hash: fc.constantFrom('a', 'b', 'c') }),
  { nil: undefined },
);
const text = (hash: string, mode = '100644'): Side => ({ mode, hash });

describe('three sides', () => {
  it('what was done on one side alone is taken as it is', () => {
    fc.assert(
      fc.property(side, side, (base, other) => {
        const comes = meet(base, base, other);
        expect(['same', 'take', 'conflict']).toContain(comes.kind);
        if (comes.kind === 'take') expect(comes.side).toEqual(other);
        if (comes.kind === 'conflict') expect(comes.reason).toBe('submodule');
        expect(['same', 'leave']).toContain(meet(base, other, base).kind);
      }),
    );
  });

  it('what was done on both is the same, a matter of lines, or a contradiction, but for a mode and a content', () => {
    fc.assert(
      fc.property(side, side, side, (base, ours, theirs) => {
        const meeting = meet(base, ours, theirs);
        if (meeting.kind !== 'take') return;
        const result = meeting.side;
        // Each of what it is made of stands on a side that has changed it, or on both.
        for (const field of ['mode', 'hash'] as const) {
          const [from, here, there] = [base?.[field], ours?.[field], theirs?.[field]];
          if (here !== from) expect([here, from === there ? here : there]).toContain(result?.[field]);
          if (here === from) expect(result?.[field]).toBe(there);
        }
      }),
    );
  });

  it.each([
    [undefined, text('a'), text('b'), 'both-added'],
    [text('a'), undefined, text('b'), 'deleted-here'],
    [text('a'), text('b'), undefined, 'deleted-there'],
    [text('a'), text('b'), text('c', '120000'), 'different-kinds'],
    [text('a', '160000'), text('a', '160000'), text('b', '160000'), 'submodule'],
  ])('%j here %j there %j: %s', (base, ours, theirs, reason) => {
    expect(meet(base, ours, theirs)).toEqual({ kind: 'conflict', reason });
  });

  it('a mode of the one and a content of the other go together', () => {
    expect(meet(text('a'), text('a', '100755'), text('b'))).toEqual({ kind: 'take', side: text('b', '100755') });
    expect(meet(text('a'), text('b'), text('a', '100755'))).toEqual({ kind: 'take', side: text('b', '100755') });
  });
});
