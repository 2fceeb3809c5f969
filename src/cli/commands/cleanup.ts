import { type CleanUpRequest, cleanUp } from '../../client/index.ts';
import { describeReason } from '../../core/retention/index.ts';
import { parseRetentionDays } from '../../core/settings/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';

export interface CleanupOptions {
  days: string | undefined;
  'dry-run': boolean | undefined;
  json: boolean | undefined;
}

/** Removes runs that are too old, or says what would be removed and why each other run stays. */
export async function cleanupCommand(context: CliContext, options: CleanupOptions): Promise<number> {
  const dryRun = options['dry-run'] === true;
  const request: CleanUpRequest = {
    isAsked: true,
    dryRun,
    ...(options.days === undefined ? {} : { days: parseDays(options.days) }),
  };
  const report = await cleanUp(context.toolbox, request);
  const failed = report.failed.length + report.problems.length > 0;
  if (options.json) {
    const kept = report.kept.map(({ kept: why, ...run }) => ({ ...run, ...why }));
    printJson(context, { ...report, kept, dryRun });
    return failed ? EXIT.runFailed : EXIT.ok;
  }
  if (report.state === 'busy') {
    context.out('Another process is cleaning up right now; nothing was done.');
    return EXIT.ok;
  }
  for (const { project, runId } of report.removed)
    context.out(`${dryRun ? 'would remove' : 'removed'}  ${runId}  ${project}`);
  const recent = report.kept.filter(({ kept }) => kept.reason === 'recent');
  for (const { runId, kept } of report.kept)
    if (kept.reason !== 'recent') context.out(`stays    ${runId}  ${kept.reason}: ${describeReason(kept)}`);
  for (const { runId, reason } of report.failed) context.err(`could not remove ${runId}: ${reason}`);
  for (const problem of report.problems) context.err(`could not tidy up: ${problem}`);
  context.out(summary(report.removed.length, recent.length, report, dryRun));
  return failed ? EXIT.runFailed : EXIT.ok;
}

function summary(
  removed: number,
  recent: number,
  { days, leftovers }: { days: number; leftovers: string[] },
  dryRun: boolean,
): string {
  const rule = days === 0 ? 'kept for ever' : `kept for ${days} days`;
  const would = dryRun ? 'would be ' : '';
  const rest = `${leftovers.length} leftover(s) of what has died ${would}tidied up`;
  return `${removed} run(s) ${would}removed, ${recent} recent run(s) stay; ${rest}. Ended runs are ${rule}.`;
}

function parseDays(text: string): number {
  return parseRetentionDays(/^\d+$/.test(text) ? Number(text) : text, '--days');
}
