/** Removing what is too old from the store, with the settings of this client. */
import { type CleaningReport, cleanStore, PASS_LIMIT } from '../core/retention/index.ts';
import { ownRuntime } from './runtime.ts';
import { tidyWorktrees } from './tidy-worktrees.ts';
import type { Toolbox } from './toolbox.ts';

export interface CleanUpRequest {
  /** Instead of the setting. */
  days?: number;
  /** Says what would be removed, and changes nothing. */
  dryRun?: boolean;
  /** A person has asked for it: the whole store is looked at, not only a part. */
  isAsked: boolean;
}

/** Throws `config_invalid` when it is not clear how long runs are to be kept: then nothing is removed. */
export async function cleanUp(toolbox: Toolbox, request: CleanUpRequest): Promise<CleaningReport & { days: number }> {
  const days = request.days ?? (await toolbox.retentionDays());
  const report = await cleanStore({
    root: toolbox.root,
    days,
    runtime: await ownRuntime(toolbox.distDirectory),
    dryRun: request.dryRun ?? false,
    isAsked: request.isAsked,
    limit: request.isAsked ? Number.POSITIVE_INFINITY : PASS_LIMIT,
  });
  if (request.dryRun || report.state === 'busy') return { ...report, days };
  const tidied = await tidyWorktrees(toolbox.root, days);
  return {
    ...report,
    leftovers: [...report.leftovers, ...tidied.leftovers],
    problems: [...report.problems, ...tidied.problems],
    days,
  };
}
