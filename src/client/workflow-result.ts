import * as z from 'zod/mini';
import { errnoOf, readRegular } from '../core/files/index.ts';
import { runLayout } from '../core/projects/index.ts';
import { describeFaults, wordsOf } from '../protocol/index.ts';

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
  const read = await lookAtWorkflowResult(directory);
  return read.state === 'there' ? read.result : undefined;
}

export type WorkflowResultLook =
  | { state: 'there'; result: WorkflowResultFile }
  | { state: 'missing' }
  /** `reason`: in English, as the system or the schema has it. */
  | { state: 'damaged'; reason: string };

/** The same, with what is wrong with a result that is there and cannot be read. */
export async function lookAtWorkflowResult(directory: string): Promise<WorkflowResultLook> {
  try {
    const text = await readRegular(runLayout(directory).workflowResult);
    const parsed = workflowResult.safeParse(JSON.parse(text));
    return parsed.success
      ? { state: 'there', result: parsed.data }
      : { state: 'damaged', reason: describeFaults(parsed.error) };
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? { state: 'missing' } : { state: 'damaged', reason: wordsOf(error) };
  }
}
