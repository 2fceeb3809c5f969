import { restore, WorktreeDoor, worktreeNamed } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { locateRun } from './status.ts';

/** `RUN/KEY`, or `RUN` alone. */
export function parseWorktreeName(word: string): { run: string; name: string | undefined } {
  const slash = word.indexOf('/');
  return slash === -1
    ? { run: word, name: undefined }
    : { run: word.slice(0, slash), name: word.slice(slash + 1) || undefined };
}

/** Brings back a worktree that was removed, as it was kept. */
export async function restoreCommand(
  context: CliContext,
  wanted: string,
  { json }: { json?: boolean | undefined },
): Promise<number> {
  const { run, name } = parseWorktreeName(wanted);
  const { store, runId } = await locateRun(context, run);
  const door = await WorktreeDoor.open(store, context.toolbox.root);
  const id = await worktreeNamed(door, runId, name);
  const { record, warnings } = await restore(door, id);
  const { path, branch } = record;
  if (json) printJson(context, { ...id, path, branch, warnings });
  else {
    const told = warnings.flatMap(({ message, hint }) => [
      `  ${message}`,
      ...(hint === undefined ? [] : [`    ${hint}`]),
    ]);
    context.out(visible([`back  ${branch}  ${id.runId}/${id.child}`, `    ${path}`, ...told].join('\n')));
  }
  return EXIT.ok;
}
