import { discardWorktree, foreseeDiscard, WorktreeDoor, worktreeNamed } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { formatBytes } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { parseWorktreeName } from './restore.ts';
import { locateRun } from './status.ts';

/** Says what would be lost with a worktree; only with `--yes` it goes. */
export async function discardCommand(
  context: CliContext,
  wanted: string,
  { yes, json }: { yes: boolean | undefined; json: boolean | undefined },
): Promise<number> {
  const { run, name } = parseWorktreeName(wanted);
  const { store, runId } = await locateRun(context, run);
  const door = await WorktreeDoor.open(store, context.toolbox.root);
  const id = await worktreeNamed(door, runId, name);
  const outlook = await foreseeDiscard(door, id);
  const { path, branch, lost, kept, disposable } = outlook;
  if (!json) {
    const { files, bytes } = kept.outside;
    context.out(
      visible(
        [
          `${branch}  ${id.runId}/${id.child}`,
          `    ${path}`,
          lost.length === 0 ? '  Nothing would be lost for good.' : '  Lost for good:',
          ...lost.map(({ message }) => `    ${message}`),
          `  Kept: all changed files, ${kept.commits} commit(s), ${files} file(s) that no commit has (${formatBytes(bytes)})`,
          ...(disposable > 0 ? [`  Not kept: ${disposable} file(s) that can be made again`] : []),
        ].join('\n'),
      ),
    );
  }
  if (!yes) {
    if (json) printJson(context, { ...id, ...outlook, removed: false });
    else context.out('It stays: nothing was removed. With --yes it goes.');
    return EXIT.ok;
  }
  const { worktreeRemoved, branchRemoved, reasons } = await discardWorktree(door, id);
  if (json) printJson(context, { ...id, ...outlook, removed: worktreeRemoved, branchRemoved, reasons });
  else {
    const told = reasons.map(({ message }) => `    ${message}`);
    context.out(visible([worktreeRemoved ? 'Removed.' : 'It stays.', ...told].join('\n')));
  }
  return worktreeRemoved ? EXIT.ok : EXIT.runFailed;
}
