/** Work of a lane that was brought into a checkout, with all that takes it back. */
import * as z from 'zod/mini';
import { runId } from './run.ts';

/** A file or a link as it was or is to be. */
const fileBody = z.object({
  kind: z.enum(['file', 'link']),
  /** Permission bits of a file. */
  mode: z.number(),
  /** SHA-256 of the content, or of the target of a link. */
  digest: z.string(),
  /** Name in the folder of the application. */
  body: z.string(),
});
export type FileBody = z.infer<typeof fileBody>;

export const workApplication = z.object({
  version: z.literal(1),
  id: z.string(),
  /** Top folder of the checkout, real path. */
  root: z.string(),
  source: z.object({ runId, child: z.number() }),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** `writing` and `undoing` are intents: whoever finds one that nobody carries out goes back, or on. */
  state: z.enum(['writing', 'applied', 'undoing', 'undone']),
  /** In the order they are written: what goes comes first. Paths are bytes in Base64. Null: nothing is there. */
  files: z.array(z.object({ path: z.string(), before: z.nullable(fileBody), after: z.nullable(fileBody) })),
  /** Folders that were not there before, the outermost first; Base64. */
  folders: z.array(z.string()),
});
export type WorkApplication = z.infer<typeof workApplication>;
