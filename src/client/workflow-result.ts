import * as z from 'zod/mini';
import { readRegular } from '../core/files/index.ts';
import { runLayout } from '../core/projects/index.ts';

const workflowResult = z.object({
  ok: z.boolean(),
  value: z.optional(z.unknown()),
  emits: z.array(z.unknown()),
  console: z.array(z.object({ level: z.string(), text: z.string() })),
  /** The file that what it came to is also written to; absent: none was named. */
  output: z.optional(
    z.object({
      path: z.string(),
      outcome: z.enum(['saved', 'kept', 'failed']),
      bytes: z.number(),
      error: z.nullable(z.string()),
    }),
  ),
  warnings: z.optional(z.array(z.string())),
  trace: z.array(z.looseObject({ operation: z.string(), key: z.string(), state: z.string() })),
});
export type WorkflowResultFile = z.infer<typeof workflowResult>;

/** What a workflow came to; `undefined` when it has no result, or none that can be read. */
export async function readWorkflowResult(directory: string): Promise<WorkflowResultFile | undefined> {
  try {
    return workflowResult.parse(JSON.parse(await readRegular(runLayout(directory).workflowResult)));
  } catch {
    return undefined;
  }
}
