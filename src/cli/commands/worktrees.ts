import { readWorktrees, type WorktreeRow } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { visibleLine } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { currentStore } from './status.ts';

export interface WorktreesOptions {
  json: boolean | undefined;
}

/** Lists the worktrees of this project's children, with what was kept of each. Nothing is changed. */
export async function worktreesCommand(context: CliContext, options: WorktreesOptions): Promise<number> {
  const store = await currentStore(context);
  const { worktrees, git } = await readWorktrees(store, context.cwd);
  if (options.json) printJson(context, { worktrees, git });
  else {
    if (worktrees.length === 0) context.out('No worktrees of children in this project.');
    for (const row of worktrees) context.out(visible(linesOf(row).join('\n')));
    // Outside of git there are none, which is no fault.
    if (git && worktrees.length > 0) context.err(visible(`Git could not be asked: ${git.message}`));
  }
  return worktrees.some(({ state }) => state === 'unreadable') ? EXIT.runFailed : EXIT.ok;
}

function linesOf(row: WorktreeRow): string[] {
  const whose = row.runId === undefined ? 'not in the ledger' : `child ${row.child} of ${row.runId}`;
  if (row.state === 'unreadable') return [`unreadable  ${whose}`, `    ${row.fault ?? ''}`];
  const live = row.users.filter(({ liveness }) => liveness !== 'ended');
  return [
    `${row.state.padEnd(10)}  ${row.branch ?? '(no branch)'}  ${whose}`,
    `    ${row.path ?? ''}${placeOf(row)}`,
    ...(row.state === 'unknown'
      ? ['    Nobody has written down that it was made: it is never removed by itself.']
      : []),
    ...(row.capture ? [`    kept: ${keptOf(row.capture)}`, `    in ${row.capture.folder}`] : []),
    ...live.map(({ runId, child, liveness }) =>
      liveness === 'live'
        ? `    in use by child ${child} of ${runId}`
        : `    may be in use by child ${child} of ${runId}`,
    ),
    ...row.reasons.map(({ message }) => `    ${message}`),
  ].map(visibleLine);
}

function placeOf({ state, present, registered }: WorktreeRow): string {
  if (state === 'removed' || state === 'undone' || state === 'planned') return '';
  if (present === false) return '  (its folder is gone)';
  if (present === null) return '  (whether its folder is there cannot be told)';
  return registered === false ? '  (git does not have it on this branch)' : '';
}

function keptOf({ changed, commits, patch, outside, kept }: NonNullable<WorktreeRow['capture']>): string {
  const parts = [
    changed ? undefined : 'no change',
    patch && `${patch.files} file(s) +${patch.insertions} -${patch.deletions}`,
    commits > 0 ? `${commits} commit(s)` : undefined,
    outside.files > 0 ? `${outside.files} file(s) outside of git, ${outside.bytes} bytes` : undefined,
    kept?.ref,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}
