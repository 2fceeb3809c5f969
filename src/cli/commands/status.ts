import { allStores, findRun, lookAtWorkflowResult, type RunSnapshot, RunStore } from '../../client/index.ts';
import { findProject, projectLayout, runLayout } from '../../core/projects/index.ts';
import { workflowChildren, workflowGraph } from '../../core/runs/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { LanesError, lanesError, toErrorValue } from '../../protocol/index.ts';
import { readAnswerText } from '../answer-text.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { formatDetails, formatRow, type Returned } from '../format.ts';
import { withNextStep } from '../next-step.ts';
import { preflightDifferences } from '../preflight-differences.ts';

export async function currentStore(context: CliContext): Promise<RunStore> {
  return new RunStore(await findProject(context.toolbox.agentDir, context.cwd));
}

/** Finds a run by what a person typed, in this project first. */
export async function locateRun(
  context: CliContext,
  wanted: string,
): Promise<{ store: RunStore; runId: string; directory: string }> {
  const others = await allStores(context.toolbox.root);
  // A run named by its id is found wherever one stands; only "last" needs to know the project.
  const current = await currentStore(context).catch((error: unknown) => {
    if (wanted === 'last') throw error;
    return undefined;
  });
  const found = await findRun(wanted, current ?? new RunStore(projectLayout(context.toolbox.root.projects)), others);
  return { ...found, directory: found.store.directoryOf(found.runId) };
}

export interface StatusOptions {
  all: boolean | undefined;
  limit: string | undefined;
  json: boolean | undefined;
}

export async function statusCommand(
  context: CliContext,
  wanted: string | undefined,
  options: StatusOptions,
): Promise<number> {
  if (wanted !== undefined) {
    const { store, runId, directory } = await locateRun(context, wanted);
    const snapshot = await store.read(runId);
    if (options.json) printJson(context, toJson(snapshot, await moreOf(snapshot, directory)));
    else context.out(formatDetails(snapshot, Date.now(), await returnedBy(snapshot, directory)));
    return EXIT.ok;
  }
  const limit = parseLimit(options.limit);
  const stores = options.all ? await allStores(context.toolbox.root) : [await currentStore(context)];
  const lists = await Promise.allSettled(stores.map((store) => store.list(limit)));
  const snapshots = lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []));
  // A project that cannot be read does not hide the others, and is not called empty.
  const unreadable = lists.flatMap((list) => (list.status === 'rejected' ? [toErrorValue(list.reason)] : []));
  if (unreadable[0] && !options.all) throw new LanesError(unreadable[0]);
  snapshots.sort((a, b) => (a.runId < b.runId ? 1 : -1));
  const shown = snapshots.slice(0, limit);
  if (options.json) printJson(context, { runs: shown.map((snapshot) => toJson(snapshot)), unreadable });
  else if (shown.length === 0 && unreadable.length === 0) {
    context.out(
      `No runs ${options.all ? 'yet' : 'in this project yet'}. Start one: pi-lanes run --agent worker --task "…"`,
    );
  } else for (const snapshot of shown) context.out(formatRow(snapshot));
  if (!options.json) for (const { message } of unreadable) context.err(visible(message));
  return unreadable.length > 0 ? EXIT.runFailed : EXIT.ok;
}

/** What stands beside the run: the answer of its one agent; of a workflow its inside and what its script came to. */
async function moreOf({ view }: RunSnapshot, directory: string): Promise<object | undefined> {
  if (!view?.workflow) return readAnswerText(directory, 1);
  const look = await lookAtWorkflowResult(directory);
  const { value, emits, console, trace } = look.state === 'there' ? look.result : {};
  const { workflowResult: resultFile, receipt: receiptFile } = runLayout(directory);
  return {
    graph: workflowGraph(view),
    workflowChildren: workflowChildren(view),
    ...(view.workflow.preflight ? { preflightWarnings: preflightDifferences(view) } : {}),
    ...(look.state === 'damaged' ? { resultDamage: look.reason } : {}),
    ...(trace ? { workflow: { value: value ?? null, emits, console, trace }, resultFile, receiptFile } : {}),
  };
}

async function returnedBy({ view }: RunSnapshot, directory: string): Promise<Returned | undefined> {
  if (!view?.workflow) return undefined;
  const { workflowResult: file } = runLayout(directory);
  const look = await lookAtWorkflowResult(directory);
  switch (look.state) {
    case 'there':
      return { ok: look.result.ok, value: look.result.value, file };
    case 'missing':
      return undefined;
    case 'damaged':
      return { ok: false, file, damage: look.reason };
    default:
      return look satisfies never;
  }
}

function toJson(snapshot: RunSnapshot, extra?: object): Record<string, unknown> {
  const { runId, state, directory, error, view, skipped, damage = null } = snapshot;
  const told = error && withNextStep(error, runId);
  return { runId, state, directory, error: told, run: view, unreadableRecords: skipped, damage, ...extra };
}

function parseLimit(text: string | undefined): number {
  if (text === undefined) return 20;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit > 0 && limit <= 10_000) return limit;
  throw lanesError('launch_invalid:limit', { value: text });
}
