import {
  type RepositoryOverview,
  readOverview,
  readWorktrees,
  type WorktreeOverview,
  type WorktreeRow,
} from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { formatBytes, visibleLine } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { currentStore } from './status.ts';

export interface WorktreesOptions {
  json: boolean | undefined;
}

/** Lists the worktrees of this project by repository, with what was kept of each. Nothing is changed. */
export async function worktreesCommand(context: CliContext, options: WorktreesOptions): Promise<number> {
  const store = await currentStore(context);
  const { worktrees, git } = await readWorktrees(store, context.cwd);
  const repositories = await readOverview(store, { folder: context.cwd, sizes: true });
  if (options.json) printJson(context, { worktrees, git, repositories });
  else {
    if (worktrees.length === 0) context.out('No worktrees of children in this project.');
    const seen = new Map(repositories.flatMap((group) => group.worktrees.map((one) => [keyOf(one), one])));
    for (const row of worktrees) {
      const overview = seen.get(row.runId === undefined ? (row.path ?? '') : `${row.runId} ${row.child}`);
      context.out(visible([...linesOf(row), ...(overview ? overviewOf(overview) : [])].join('\n')));
    }
    for (const line of repositories.flatMap(othersOf)) context.out(visible(line));
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

function keyOf({ owner, path }: WorktreeOverview): string {
  return owner ? `${owner.runId} ${owner.child}` : (path ?? '');
}

/** How it stands, in one line. */
function overviewOf(one: WorktreeOverview): string[] {
  const { ahead, behind, changed, size, lastActivity, lane, eligibility, state, clearing } = one;
  const parts = [
    lane === null ? undefined : `lane ${lane}`,
    ahead === null ? undefined : `${ahead} ahead, ${behind} behind`,
    changed === null ? undefined : `${changed} changed file(s)`,
    size === null ? undefined : `${size.files} file(s), ${formatBytes(size.bytes)}`,
    clearing ? 'its files are still to be deleted: `pi-lanes cleanup finish`' : undefined,
    lastActivity === null ? undefined : `last used ${new Date(lastActivity).toISOString().slice(0, 16)}Z`,
    eligibility === null || state === 'removed' || state === 'undone'
      ? undefined
      : `${eligibility.state}${eligibility.reason === undefined ? '' : ` (${eligibility.reason})`}`,
  ];
  const told = parts.filter((part) => part !== undefined);
  return told.length === 0 ? [] : [`    ${told.join('; ')}`];
}

/** The worktrees that are the person's own, where there are any besides the checkout. */
function othersOf({ worktrees }: RepositoryOverview): string[] {
  const own = worktrees.filter(({ kind }) => kind === 'foreign');
  return own.map(({ branch, path }) => `yours       ${branch ?? '(no branch)'}  never touched\n    ${path}`);
}
