import { type Applied, applyCleanup, finishCleanup, planCleanup, WorktreeDoor } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { type CleanupEntry, type CleanupLoss, formatBytes, lanesError } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { currentStore } from './status.ts';

/** Says which worktrees may go and why others stay, and saves that. Nothing is removed. */
export async function cleanupPlanCommand(
  context: CliContext,
  { json }: { json?: boolean | undefined },
): Promise<number> {
  const door = await WorktreeDoor.open(await currentStore(context), context.toolbox.root);
  const { plan, path } = await planCleanup(door, { folder: context.cwd });
  if (json) {
    printJson(context, { plan, path });
    return EXIT.ok;
  }
  const of = (wanted: (entry: CleanupEntry) => boolean) => plan.entries.filter(wanted);
  const sections: [title: string, entries: CleanupEntry[]][] = [
    ['Will be removed:', of(({ decision, selected }) => decision === 'remove' && selected)],
    ['May be removed when you choose it (--only):', of(({ decision, selected }) => decision === 'remove' && !selected)],
    ['Stays:', of(({ decision }) => decision === 'keep')],
    ['Stays, because it is not certain what it is:', of(({ decision }) => decision === 'unknown')],
  ];
  const lines = sections.flatMap(([title, entries]) =>
    entries.length === 0 ? [] : [title, ...entries.flatMap(linesOf)],
  );
  if (plan.entries.length === 0) lines.push('No worktrees in this project.');
  for (const { message } of plan.warnings) lines.push(`Warning: ${message}`);
  lines.push(
    `Saved as ${path}, until ${new Date(plan.expiresAt).toISOString()}. Nothing was removed.`,
    ...(of(({ decision }) => decision === 'remove').length > 0
      ? [`Apply it: pi-lanes cleanup apply ${plan.planId}`]
      : []),
  );
  context.out(visible(lines.join('\n')));
  return EXIT.ok;
}

function linesOf({ branch, path, runId, child, state, reasons, losses }: CleanupEntry): string[] {
  const whose = runId === undefined ? '' : `  ${runId}/${child}`;
  return [
    `- ${branch ?? '(no branch)'}${whose}  ${state}`,
    `    ${path}`,
    ...reasons.map(({ message }) => `    ${message}`),
    ...losses.map((loss) => `    ${lossText(loss)}`),
  ];
}

const KINDS: Readonly<Record<CleanupLoss['kind'], string>> = {
  commits: 'commit(s)',
  files: 'changed file(s)',
  outside: 'file(s) that no commit has',
  disposable: 'file(s) that can be made again',
  branch: 'branch',
};

function lossText({ kind, count, bytes, keptAt }: CleanupLoss): string {
  const size = bytes === undefined ? '' : `, ${formatBytes(bytes)}`;
  return `${count} ${KINDS[kind]}${size}: ${keptAt === null ? 'not kept' : `kept at ${keptAt}`}`;
}

export interface CleanupApplyOptions {
  only: string[] | undefined;
  timeout: string | undefined;
  json: boolean | undefined;
}

/** Removes what a plan has chosen, each asked once more at its turn. */
export async function cleanupApplyCommand(
  context: CliContext,
  planId: string,
  { only, timeout, json }: CleanupApplyOptions,
): Promise<number> {
  const timeoutMs = millisecondsOf(timeout);
  const door = await WorktreeDoor.open(await currentStore(context), context.toolbox.root);
  const results = await applyCleanup(door, planId, {
    ...(only && { only }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  if (json) printJson(context, { results });
  else {
    if (results.length === 0) context.out('The plan has chosen nothing; --only chooses from what may go.');
    for (const one of results) context.out(visible(appliedLines(one).join('\n')));
    if (results.some(({ removed }) => removed))
      context.out('What was removed can come back: pi-lanes restore RUN/CHILD, as the lines above name it.');
  }
  return results.every(({ removed, clearing }) => removed && clearing.length === 0) ? EXIT.ok : EXIT.runFailed;
}

/** Goes on with removals that were cut off. */
export async function cleanupFinishCommand(
  context: CliContext,
  { timeout, json }: Omit<CleanupApplyOptions, 'only'>,
): Promise<number> {
  const timeoutMs = millisecondsOf(timeout);
  const door = await WorktreeDoor.open(await currentStore(context), context.toolbox.root);
  const deleting = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const { finished, left } = await finishCleanup(door, deleting);
  if (json) printJson(context, { finished, left });
  else {
    for (const one of finished) context.out(visible(appliedLines(one).join('\n')));
    for (const { path, reason } of left)
      context.err(visible(`still to be deleted: ${path}${reason === undefined ? '' : `: ${reason}`}`));
    if (finished.length + left.length === 0) context.out('Nothing is left to be finished.');
  }
  return left.length === 0 && finished.every(({ removed }) => removed) ? EXIT.ok : EXIT.runFailed;
}

function appliedLines({ path, branch, runId, child, removed, branchRemoved, reasons, clearing }: Applied): string[] {
  const what = removed ? (branchRemoved ? 'removed' : 'removed, its branch stays') : 'stays';
  return [
    `${what}  ${branch ?? '(no branch)'}  ${runId}/${child}`,
    `    ${path}`,
    ...reasons.flatMap(({ message, hint }) => [`    ${message}`, ...(hint === undefined ? [] : [`      ${hint}`])]),
    ...clearing.map(
      (folder) => `    its files are still to be deleted: ${folder}; \`pi-lanes cleanup finish\` goes on`,
    ),
  ];
}

function millisecondsOf(seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  const ms = Math.ceil(Number(seconds) * 1000);
  if (!(ms > 0 && ms <= 2_147_483_647)) throw lanesError('launch_invalid:cleanup-time', { value: seconds });
  return ms;
}
