import type { Finding } from '../../protocol/index.ts';
import { TextPositions } from '../text-positions/index.ts';

export interface AppliedFixes {
  script: string;
  applied: Finding[];
}

/**
 * Applies the safe fixes of all findings that do not get into each other's way; the others can be applied after the next look at
 * the result. A fix that several findings share is applied once.
 */
export function applySafeFixes(script: string, findings: readonly Finding[]): AppliedFixes {
  const positions = new TextPositions(script);
  const edits: { start: number; end: number; text: string }[] = [];
  const seen = new Set<string>();
  const applied: Finding[] = [];
  for (const finding of findings) {
    if (!finding.fix?.safe) continue;
    const id = JSON.stringify(finding.fix.edits);
    const own = finding.fix.edits.map(({ line, column, endLine, endColumn, text }) => ({
      start: positions.offset(line, column),
      end: positions.offset(endLine, endColumn),
      text,
    }));
    if (seen.has(id)) applied.push(finding);
    else if (own.every((edit) => edits.every((other) => edit.end < other.start || other.end < edit.start))) {
      seen.add(id);
      edits.push(...own);
      applied.push(finding);
    }
  }
  // Two insertions at one place keep their order.
  const ordered = edits
    .map((edit, order) => ({ ...edit, order }))
    .sort((a, b) => b.start - a.start || b.order - a.order);
  let text = script;
  for (const { start, end, text: inserted } of ordered) text = text.slice(0, start) + inserted + text.slice(end);
  return { script: text, applied };
}
