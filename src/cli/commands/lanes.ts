import { type LaneRecorded, type LaneStatus, laneStatus, recordMerge, recordSupersession } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { lanesError } from '../../protocol/index.ts';
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
  const { store, runId } = await locateRun(context, wanted);
  if (action === 'status') return show(context, await laneStatus(store, runId), options);
  const attested = { attestedBy: options.by, attestedAt: options.at ?? new Date().toISOString() };
  const recorded =
    action === 'record-merge'
      ? await recordMerge(store, runId, {
          prNumber: options.pr === undefined ? undefined : Number(options.pr),
          reviewedHead: options['reviewed-head'],
          mergeCommit: options['merge-commit'],
          treeEquivalent: truthOf(options['tree-equivalent'] ?? 'unknown'),
          postMergeChecks: options.checks ?? 'unknown',
          ...attested,
        })
      : await recordSupersession(store, runId, { supersededBy: options['superseded-by'], ...attested });
  return show(context, recorded, options);
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

/** What is neither is refused with the other fields. */
function truthOf(text: string): boolean | string {
  return text === 'true' ? true : text === 'false' ? false : text;
}

function show(context: CliContext, status: LaneStatus | LaneRecorded, { json }: LanesOptions): number {
  if (json) printJson(context, { ...status });
  else context.out(visible(linesOf(status).join('\n')));
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
