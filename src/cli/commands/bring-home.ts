import {
  applyWork,
  branchOfWork,
  conflictsOfRun,
  forecastWork,
  undoWork,
  type WorkForecast,
  WorktreeDoor,
  worktreeNamed,
} from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import type { ConflictReason, LaneConflict } from '../../core/worktrees/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { parseWorktreeName } from './restore.ts';
import { currentStore, locateRun } from './status.ts';

export interface ApplyWorkOptions {
  files: string[] | undefined;
  forecast: boolean | undefined;
  json: boolean | undefined;
}

async function find(context: CliContext, wanted: string) {
  const { run, name } = parseWorktreeName(wanted);
  const { store, runId } = await locateRun(context, run);
  const door = await WorktreeDoor.open(store, context.toolbox.root);
  return { door, id: await worktreeNamed(door, runId, name) };
}

/** Shows what would come of bringing work home, and does it when nothing contradicts; `--forecast` only shows. */
export async function applyCommand(context: CliContext, wanted: string, options: ApplyWorkOptions): Promise<number> {
  const { door, id } = await find(context, wanted);
  const { files, json } = options;
  const request = { cwd: context.cwd, files };
  const foreseen = await forecastWork(door, id, request);
  const isClean = foreseen.files.every(({ outcome }) => outcome !== 'conflict');
  if (options.forecast) {
    if (json) printJson(context, { ...foreseen, applied: false });
    else context.out(visible([...linesOf(foreseen), 'Nothing was changed.'].join('\n')));
    return isClean ? EXIT.ok : EXIT.runFailed;
  }
  if (!json) context.out(visible(linesOf(foreseen).join('\n')));
  const applied = await applyWork(door, id, request);
  if (json) printJson(context, { ...applied, applied: applied.id !== null });
  else
    context.out(
      applied.id === null
        ? 'All of it is here already; nothing was changed.'
        : `Applied, not staged. Take it back: pi-lanes apply --undo ${applied.id}`,
    );
  return EXIT.ok;
}

/** Takes back what was applied in this checkout. */
export async function undoCommand(
  context: CliContext,
  wanted: string | undefined,
  { json }: { json: boolean | undefined },
): Promise<number> {
  const door = await WorktreeDoor.open(await currentStore(context), context.toolbox.root);
  const { id, root, source, files } = await undoWork(door, { cwd: context.cwd, id: wanted });
  if (json) printJson(context, { id, root, source, files: files.length });
  else context.out(visible(`Taken back: ${files.length} file(s) of ${source.runId}/${source.child} in ${root}`));
  return EXIT.ok;
}

/** Makes a branch of what a child has done. */
export async function branchCommand(
  context: CliContext,
  wanted: string,
  name: string,
  { json }: { json?: boolean | undefined },
): Promise<number> {
  const { door, id } = await find(context, wanted);
  const made = await branchOfWork(door, id, name);
  if (json) printJson(context, { ...made });
  else context.out(visible(`${made.branch} is at ${made.commit}. Nothing was checked out.`));
  return EXIT.ok;
}

/** Says which lanes of a run would contradict each other. */
export async function laneConflictsCommand(
  context: CliContext,
  wanted: string,
  { json }: { json?: boolean | undefined },
): Promise<number> {
  const { store, runId } = await locateRun(context, wanted);
  const door = await WorktreeDoor.open(store, context.toolbox.root);
  const pairs = await conflictsOfRun(door, runId);
  if (json) printJson(context, { runId, pairs });
  else if (pairs.length === 0) context.out('No two lanes have changed the same file.');
  else context.out(visible(pairs.flatMap(pairLines).join('\n')));
  return pairs.some(({ conflicts }) => conflicts.length > 0) ? EXIT.runFailed : EXIT.ok;
}

function pairLines({ lanes, shared, conflicts }: LaneConflict): string[] {
  const [a, b] = lanes;
  const what = conflicts.length === 0 ? 'which go together' : `${conflicts.length} conflict(s)`;
  return [
    `${a} and ${b}: ${shared} file(s) in common, ${what}`,
    ...conflicts.map(({ path, reason }) => `    ${path}: ${REASONS[reason]}`),
  ];
}

const REASONS: Readonly<Record<ConflictReason, string>> = {
  'both-added': 'both have added it, and differently',
  'deleted-here': 'it was deleted here, and changed there',
  'deleted-there': 'it was changed here, and deleted there',
  'different-kinds': 'both have changed it, and one is no text file',
  lines: 'both have changed the same lines, or it is no text',
  submodule: 'it is a submodule, which is not brought along',
  'in-the-way': 'a file and a folder have the same name',
};

const OUTCOMES = { take: 'taken', merge: 'merged', same: 'same already', conflict: 'CONFLICT' } as const;

function linesOf({ root, files, outside }: WorkForecast): string[] {
  return [
    `Into ${root}:`,
    ...files.map(({ path, change, outcome, reason }) => {
      const why = reason === undefined ? '' : ` (${REASONS[reason]})`;
      return `  ${change.padEnd(8)}  ${path}  ${OUTCOMES[outcome]}${why}`;
    }),
    ...(files.length === 0 ? ['  no changed file'] : []),
    ...(outside > 0 ? [`  ${outside} file(s) that no commit has do not come along`] : []),
  ];
}
