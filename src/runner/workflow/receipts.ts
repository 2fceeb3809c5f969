/** The receipt of a workflow: what became of each key, for whoever goes on with one of its children. Written once. */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readRegular } from '../../core/files/index.ts';
import { runLayout } from '../../core/projects/index.ts';
import { childRunId, parseChildRunId } from '../../core/runs/index.ts';
import type { WorkflowResult } from '../../core/workflow/index.ts';
import { lanesError, type RunView, type TerminalState, workflowResource } from '../../protocol/index.ts';

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
  terminalOutcome: z.optional(z.unknown()),
});

export const receipt = z.object({
  version: z.literal(1),
  workflowRunId: z.string(),
  state: z.enum(['complete', 'partial', 'failed', 'stopped', 'paused', 'rejected']),
  createdAt: z.number(),
  entries: z.record(z.string(), entry),
  hostSteps: z.array(z.unknown()),
  terminalOutcome: z.optional(z.unknown()),
  resource: z.optional(workflowResource),
});
export type Receipt = z.infer<typeof receipt>;

const MAX_BYTES = 2 * 1024 * 1024;

export function receiptOf(view: RunView, state: TerminalState, result: WorkflowResult, now: number): Receipt {
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
  for (const { key, index, agent, session } of view.children) {
    // Called and not settled: its session may be gone on with all the same.
    if (key === undefined || entries[key]) continue;
    const runId = childRunId(view.runId, index);
    entries[key] = {
      key,
      agent,
      latestRunId: runId,
      resumability:
        session?.file && state !== 'stopped'
          ? { state: 'resumable' }
          : { state: 'not-resumable', reason: state === 'stopped' ? 'it was stopped' : 'it has no session file' },
      continuation: { runIds: [runId] },
    };
  }
  return {
    version: 1,
    workflowRunId: view.runId,
    state,
    createdAt: now,
    entries,
    hostSteps: (view.workflow?.hosts ?? []).map(({ key, role, state: step, exitCode, outputPath }) => ({
      version: 1,
      kind: 'host-step',
      monitorKind: 'command',
      id: key,
      label: key.slice(0, 80),
      ...(role === null ? {} : { role }),
      state: step === 'passed' ? 'done' : step === 'stopped' ? 'cancelled' : 'error',
      ...(step === 'passed' ? { verdict: 'pass' } : {}),
      exitCode,
      reportPath: outputPath,
    })),
    ...(result.terminalOutcome ? { terminalOutcome: result.terminalOutcome } : {}),
    ...(view.workflow?.resource ? { resource: view.workflow.resource } : {}),
  };
}

/** The run that `{workflowRunId, key, latest: true}` means. @throws LanesError with the reason */
export async function latestRunId(runs: string, reference: Record<string, unknown>): Promise<string> {
  const { workflowRunId, key } = reference;
  const id = String(workflowRunId);
  const named = parseChildRunId(id);
  if (!named) throw lanesError('run_not_found:id', { id });
  const text = await readRegular(runLayout(join(runs, named.runId)).receipt).catch(() => undefined);
  if (text === undefined || text.length > MAX_BYTES) throw lanesError('receipt_unusable', { runId: id });
  const parsed = receipt.safeParse(parseJson(text));
  if (!parsed.success || parsed.data.workflowRunId !== named.runId) throw lanesError('receipt_unusable', { runId: id });
  const { entries } = parsed.data;
  const name = String(key);
  const found = Object.hasOwn(entries, name) ? entries[name] : undefined;
  if (!found) throw lanesError('child_unknown', { name, known: Object.keys(entries).join(', ') || '-' });
  if (found.resumability.state === 'not-resumable')
    throw lanesError('resume_refused:child', { key: name, reason: found.resumability.reason });
  return found.latestRunId ?? '';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
