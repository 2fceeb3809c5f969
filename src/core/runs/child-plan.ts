/** What a child of a workflow was launched with, as it was written down before its start. */
import { basename } from 'node:path';
import * as z from 'zod/mini';
import { childPlan, type JournalLine, lanesError } from '../../protocol/index.ts';
import { readStored } from './stored-body.ts';

const plannedChild = z.object({
  plan: childPlan,
  /** Absolute. */
  cwd: z.string(),
  /** Milliseconds it may take; null: as long as the workflow. */
  timeoutMs: z.nullable(z.number()),
});

/** @throws LanesError `run_unreadable` when it is not there any more as it was written */
export async function readChildPlan(
  directory: string,
  lines: readonly JournalLine[],
  child: number,
): Promise<z.infer<typeof plannedChild>> {
  return plannedChild.parse(JSON.parse(await readChildPlanText(directory, lines, child)));
}

/** The whole of it, as JSON text. Throws as `readChildPlan` does. */
export async function readChildPlanText(
  directory: string,
  lines: readonly JournalLine[],
  child: number,
): Promise<string> {
  const line = lines.find((one) => one.type === 'child.planned' && one.child === child);
  if (line?.type !== 'child.planned') throw lanesError('run_not_found:id', { id: `${basename(directory)}.${child}` });
  return readStored(directory, line.plan);
}
