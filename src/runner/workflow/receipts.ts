/** The receipt of a workflow: what became of each key, for whoever goes on with one of its children. Written once. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readRegular } from '../../core/files/index.ts';
import { runLayout } from '../../core/projects/index.ts';
import { childRunId } from '../../core/runs/index.ts';
import type { WorkflowResult } from '../../core/workflow/index.ts';
import {
  type ChildView,
  cutText,
  describeFaults,
  type HostStepView,
  isObject,
  isTerminal,
  lanesError,
  RUN_ID,
  type RunView,
  type TerminalState,
  workflowResource,
} from '../../protocol/index.ts';

const resumability = z.union([
  z.object({ state: z.literal('resumable') }),
  z.object({ state: z.literal('not-resumable'), reason: z.string() }),
]);

const entry = z.object({
  key: z.string(),
  agent: z.optional(z.string()),
  outputReference: z.optional(z.string()),
  latestRunId: z.optional(z.string()),
  resumability,
  continuation: z.object({ runIds: z.array(z.string()) }),
  lane: z.optional(z.unknown()),
  /** Of a child with a worktree: where it is, and the files with what was kept of it, relative to the folder of the run. */
  worktree: z.optional(
    z.object({ path: z.string(), branch: z.string(), base: z.string(), capture: z.optional(z.string()) }),
  ),
  terminalOutcome: z.optional(z.unknown()),
});

export const receipt = z.object({
  version: z.literal(1),
  workflowRunId: z.string(),
  state: z.enum(['complete', 'partial', 'failed', 'stopped', 'paused', 'rejected']),
  createdAt: z.number(),
  entries: z.record(z.string(), entry),
  /** The file that what the workflow came to was written to. */
  outputReference: z.optional(z.string()),
  hostSteps: z.array(z.unknown()),
  terminalOutcome: z.optional(z.unknown()),
  resource: z.optional(workflowResource),
});
export type Receipt = z.infer<typeof receipt>;

const MAX_BYTES = 2 * 1024 * 1024;

/** What a receipt takes from the result of the script. */
export type Settled = Pick<WorkflowResult, 'partialChildren' | 'terminalOutcome'>;

export function receiptOf(view: RunView, state: TerminalState, result: Settled, now: number): Receipt {
  const entries: Receipt['entries'] = {};
  for (const child of result.partialChildren) {
    const { key, agent, runId, outputReference, continuation, lane, terminalOutcome } = child;
    const given = resumability.safeParse(child['resumability']);
    entries[key] = {
      key,
      ...(agent === undefined ? {} : { agent }),
      ...(outputReference === undefined ? {} : { outputReference }),
      ...(runId === undefined ? {} : { latestRunId: runId }),
      resumability:
        given.success && runId !== undefined ? given.data : { state: 'not-resumable', reason: 'it was not started' },
      continuation: continuation ?? { runIds: runId === undefined ? [] : [runId] },
      ...(lane === undefined ? {} : { lane }),
      ...(terminalOutcome === undefined ? {} : { terminalOutcome }),
    };
  }
  const settled = new Set(Object.keys(entries));
  for (const child of view.children) {
    const { key, index, agent, lane } = child;
    // The script was not told what became of it: its session may be gone on with all the same.
    if (key === undefined || settled.has(key)) continue;
    const runId = childRunId(view.runId, index);
    const before = Object.hasOwn(entries, key) ? entries[key] : undefined;
    entries[key] = {
      key,
      agent,
      latestRunId: runId,
      resumability: resumabilityOf(child, state),
      continuation: { runIds: [...(before?.continuation.runIds ?? []), runId] },
      ...(lane === undefined ? {} : { lane }),
    };
  }
  for (const { key, worktree } of view.children) {
    const known = key !== undefined && Object.hasOwn(entries, key) ? entries[key] : undefined;
    if (!known || !worktree || worktree.state === 'undone') continue;
    const { path, branch, base, capture } = worktree;
    known.worktree = { path, branch, base, ...(capture ? { capture: capture.file } : {}) };
  }
  const output = view.workflow?.output;
  return {
    version: 1,
    workflowRunId: view.runId,
    state,
    createdAt: now,
    entries,
    ...(output?.outcome === 'saved' || output?.outcome === 'kept' ? { outputReference: output.path } : {}),
    hostSteps: (view.workflow?.hosts ?? []).map(hostStepRecord),
    ...(result.terminalOutcome ? { terminalOutcome: result.terminalOutcome } : {}),
    ...(view.workflow?.resource ? { resource: view.workflow.resource } : {}),
  };
}

/** A child that was over when its workflow was stopped has not been stopped. */
function resumabilityOf(
  { state, session }: ChildView,
  ofWorkflow: TerminalState,
): Receipt['entries'][string]['resumability'] {
  const isOver = isTerminal(state) && state !== 'stopped';
  if (ofWorkflow === 'stopped' && !isOver) return { state: 'not-resumable', reason: 'it was stopped' };
  return session?.file ? { state: 'resumable' } : { state: 'not-resumable', reason: 'it has no session file' };
}

const LABEL_CHARS = 80;
const DETAIL_CHARS = 200;
const PATH_CHARS = 240;

/** A command as evidence: what it came to, and where what it printed lies. */
function hostStepRecord({ key, role, state, exitCode, outputPath, endedAt, error }: HostStepView) {
  const reasonCode = reasonOf(state, exitCode);
  return {
    version: 1,
    kind: 'host-step',
    monitorKind: 'command',
    id: key,
    // Keys may be longer than labels.
    label: key.slice(0, LABEL_CHARS),
    ...(role === null ? {} : { role }),
    state: state === 'passed' ? 'done' : state === 'stopped' ? 'cancelled' : 'error',
    ...(state === 'passed' ? { verdict: 'pass' } : {}),
    ...(reasonCode === undefined ? {} : { reasonCode }),
    ...(error === null ? {} : { detail: cutText(error.message, DETAIL_CHARS) }),
    ...(outputPath === null || outputPath.length > PATH_CHARS ? {} : { reportPath: outputPath }),
    ...(exitCode === null ? {} : { exitCode }),
    ...(endedAt === null ? {} : { updatedAt: endedAt }),
  };
}

function reasonOf(state: HostStepView['state'], exitCode: number | null): string | undefined {
  if (state === 'passed') return undefined;
  if (state === 'timed-out') return 'timed_out';
  if (state === 'stopped') return 'aborted';
  return state === 'failed' && exitCode !== null && exitCode !== 0 ? 'command_failed' : 'execution_failed';
}

/** The run that `{workflowRunId, key, latest: true}` means. @throws LanesError with the reason */
export async function latestRunId(runs: string, reference: Record<string, unknown>): Promise<string> {
  const { workflowRunId, key } = reference;
  const runId = String(workflowRunId).trim();
  // The whole id, and of the workflow itself: neither a beginning of it nor one of its children.
  if (!RUN_ID.test(runId)) throw lanesError('run_not_found:id', { id: runId });
  const layout = runLayout(join(runs, runId));
  if (!(await stat(layout.record).catch(() => undefined))) throw lanesError('run_not_found:id', { id: runId });
  const text = await readRegular(layout.receipt).catch(() => undefined);
  if (text === undefined) throw lanesError('receipt_unusable', { runId });
  const { entries } = readReceipt(text, runId);
  const name = String(key);
  const found = Object.hasOwn(entries, name) ? entries[name] : undefined;
  if (!found) throw lanesError('child_unknown', { name, known: Object.keys(entries).join(', ') || '-' });
  if (found.resumability.state === 'not-resumable')
    throw lanesError('resume_refused:child', { key: name, reason: found.resumability.reason });
  return found.latestRunId ?? '';
}

/** @throws LanesError `receipt_unusable` naming what is wrong with it */
export function readReceipt(text: string, runId: string): Receipt {
  const wrong = (reason: string) => lanesError('receipt_unusable:wrong', { runId, reason });
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES) throw wrong(`it has ${bytes} bytes; ${MAX_BYTES} are read at most`);
  const json = parseJson(text);
  if (json === undefined) throw wrong('it is not JSON');
  const parsed = receipt.safeParse(json);
  if (!parsed.success) throw wrong(describeFaults(parsed.error));
  const fault = faultOf(parsed.data, runId);
  if (fault !== undefined) throw wrong(fault);
  return parsed.data;
}

function faultOf({ workflowRunId, entries }: Receipt, runId: string): string | undefined {
  if (workflowRunId !== runId) return `it is of ${workflowRunId}`;
  for (const [name, { key, latestRunId: latest, resumability: may, continuation, lane: own }] of Object.entries(
    entries,
  )) {
    if (key !== name) return `the entry ${name} is of ${key}`;
    if (latest !== continuation.runIds.at(-1)) return `the entry ${name} is stale`;
    if (may.state === 'resumable' && latest === undefined) return `the entry ${name} has no run to resume`;
    if (may.state === 'not-resumable' && may.reason.trim() === '')
      return `the entry ${name} does not say why it cannot be resumed`;
    if (isObject(own) && own['key'] !== key) return `the lane of the entry ${name} has another key`;
  }
  return undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
