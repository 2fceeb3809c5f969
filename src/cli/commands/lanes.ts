import { type LaneRecorded, type LaneStatus, laneStatus, recordMerge, recordSupersession } from '../../client/index.ts';
import { lanesError, visibleLine } from '../../protocol/index.ts';
import { attestedMerge, attestedSupersession } from '../attested.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { locateRun } from './status.ts';

/** What a person attests, as it stands on the command line. */
export interface LanesOptions {
  pr: string | undefined;
  'reviewed-head': string | undefined;
  'merge-commit': string | undefined;
  'tree-equivalent': string | undefined;
  checks: string | undefined;
  'superseded-by': string | undefined;
  by: string | undefined;
  at: string | undefined;
  json: boolean | undefined;
}

const MERGE = ['pr', 'reviewed-head', 'merge-commit', 'tree-equivalent', 'checks'] as const;
const OF_ACTION = {
  status: [],
  'record-merge': [...MERGE, 'by', 'at'],
  'record-supersession': ['superseded-by', 'by', 'at'],
} as const satisfies Record<string, readonly (keyof LanesOptions)[]>;
type Action = keyof typeof OF_ACTION;
const ALL = [...MERGE, 'superseded-by', 'by', 'at'] as const;

/** What the work of a run came to in the repository: shown, or attested by a person. Nothing is ever removed. */
export async function lanesCommand(
  context: CliContext,
  word: string,
  wanted: string,
  options: LanesOptions,
): Promise<number> {
  const action = actionOf(word);
  const foreign = ALL.find((name) => options[name] !== undefined && !takes(action, name));
  if (foreign) throw lanesError('launch_invalid:lanes-option', { option: foreign, action });
  const now = new Date();
  // What is wrong with the words comes before what is wrong with the run.
  const merge = action === 'record-merge' ? attestedMerge(options, now) : undefined;
  const supersession = action === 'record-supersession' ? attestedSupersession(options, now) : undefined;
  const { store, runId } = await locateRun(context, wanted);
  const status = merge
    ? await recordMerge(store, runId, merge)
    : supersession
      ? await recordSupersession(store, runId, supersession)
      : await laneStatus(store, runId);
  return show(context, status, options);
}

function actionOf(word: string): Action {
  if (word === 'status' || word === 'record-merge' || word === 'record-supersession') return word;
  throw lanesError('launch_invalid:lanes-action', {
    action: word,
    allowed: [...Object.keys(OF_ACTION), 'conflicts'].join(', '),
  });
}

function takes(action: Action, name: (typeof ALL)[number]): boolean {
  return (OF_ACTION[action] as readonly string[]).includes(name);
}

function show(context: CliContext, status: LaneStatus | LaneRecorded, { json }: LanesOptions): number {
  if (json) printJson(context, { ...status });
  else context.out(linesOf(status).map(visibleLine).join('\n'));
  return EXIT.ok;
}

function linesOf(status: LaneStatus | LaneRecorded): string[] {
  const { runId, eligibility, manifest, evidence } = status;
  const children = manifest?.groups.flatMap((group) => group.children) ?? [];
  const { merge, supersession } = evidence ?? {};
  return [
    ...('recorded' in status ? [status.recorded ? 'Recorded.' : 'Exactly this was recorded already.'] : []),
    `Lanes of ${runId}: ${eligibility.state}${eligibility.reason === undefined ? '' : ` (${eligibility.reason})`}`,
    ...children.map(({ child, agent, key, status: state, worktree, patch, changed }) => {
      const files = patch ? `${patch.files} file(s) +${patch.insertions} -${patch.deletions}` : undefined;
      const kept = files ?? (changed === null ? 'not kept yet' : changed ? 'kept' : 'no change');
      return `- ${key ?? `child ${child}`} (${agent}, ${state}): ${worktree.branch}, ${kept}`;
    }),
    ...(merge
      ? [
          `Merged as ${merge.mergeCommit} by #${merge.prNumber}, reviewed at ${merge.reviewedHead}; same files: ${merge.treeEquivalent}, checks: ${merge.postMergeChecks}; says ${merge.attestedBy}, ${merge.attestedAt}`,
        ]
      : []),
    ...(supersession
      ? [`Superseded by ${supersession.supersededBy}; says ${supersession.attestedBy}, ${supersession.attestedAt}`]
      : []),
    'Nothing was removed. `pi-lanes worktrees` shows the worktrees.',
  ];
}
