/** What a child of a workflow was launched with, as it was written down before its start. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { childPlan } from '../../protocol/index.ts';
import type { ChildLayout } from '../projects/index.ts';

const plannedChild = z.object({
  plan: childPlan,
  /** Absolute. */
  cwd: z.string(),
  /** Milliseconds it may take; null: as long as the workflow. */
  timeoutMs: z.nullable(z.number()),
});

/** Throws when there is none, or none that can be read. */
export async function readChildPlan({ plan }: ChildLayout): Promise<z.infer<typeof plannedChild>> {
  return plannedChild.parse(JSON.parse(await readFile(plan, 'utf8')));
}
