/** Where work on a child goes on whose runner is gone. */
import { CONTINUE_PROMPT, decideRecovery, type RecoveryDecision } from '../core/runs/index.ts';
import { judgeSession, readSessionFile, type SessionFile, type SessionVerdict } from '../core/sessions/index.ts';
import { type ChildView, cutText, type JournalLine } from '../protocol/index.ts';
import type { Beginning } from './child-tools.ts';
import type { OpenRun } from './open-run.ts';

/** What the journal and the session say must happen with a child; written down before anything of it happens. */
export async function decideChild(
  run: OpenRun,
  child: ChildView | undefined,
  index: number,
  lines: readonly JournalLine[] = linesOf(run.earlier, index),
): Promise<RecoveryDecision> {
  const decision = await decide(child, lines);
  await run.append({
    type: 'recovery.decided',
    child: index,
    decision: decision.decision,
    reason: cutText(decision.reason, 1000),
  });
  return decision;
}

/** Where the work goes on; `first`: how it began. */
export function beginningOf(decision: Exclude<RecoveryDecision, { decision: 'finish' }>, first: Beginning): Beginning {
  switch (decision.decision) {
    case 'start':
    case 'ask-again':
      return first;
    case 'continue':
      return { kind: 'ask', session: { kind: 'continue', file: decision.session }, prompt: CONTINUE_PROMPT };
    case 'adopt':
      return { kind: 'adopt', text: decision.text, stopReason: decision.stopReason };
    default:
      return decision satisfies never;
  }
}

/** The lines of a journal that tell of one child. */
export function linesOf(lines: readonly JournalLine[], index: number): JournalLine[] {
  return lines.filter((line) => 'child' in line && line.child === index);
}

async function decide(child: ChildView | undefined, lines: readonly JournalLine[]): Promise<RecoveryDecision> {
  const attempt = child?.attempt ?? 0;
  const path = child?.session?.file;
  if (!path || !lines.some(({ type }) => type === 'child.prompt.intended'))
    return decideRecovery(attempt, lines, undefined);
  const file = await readSessionFile(path);
  const verdict = file.state === 'ok' ? judge(file, lines) : undefined;
  return decideRecovery(attempt, lines, { file, verdict, path });
}

/** By the newest prompt that has an effect: of several runners that died in a row the last may not have sent its own. */
function judge(file: Extract<SessionFile, { state: 'ok' }>, lines: readonly JournalLine[]): SessionVerdict {
  for (const line of lines.toReversed()) {
    if (line.type !== 'child.prompt.intended') continue;
    const verdict = judgeSession(file, line);
    if (verdict.kind !== 'not-begun') return verdict;
  }
  return { kind: 'not-begun' };
}
