/** What became of a child, as the script is told. From the journal and the result file alone, so that it is the same after a crash. */
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { truncateOutput } from '../../core/outputs/index.ts';
import { childRunId, readStored } from '../../core/runs/index.ts';
import { readHostResult, type ChildView as ScriptView } from '../../core/workflow/index.ts';

import { type ChildView, PATCH_NAME } from '../../protocol/index.ts';
import type { ChildResult } from '../child-settling.ts';
import type { OpenRun } from '../open-run.ts';
import type { PlannedChild } from './child-plans.ts';

interface Answered {
  index: number;
  key: string;
  planned: PlannedChild;
}

export function answerOf(
  run: OpenRun,
  { index, key, planned: { plan, lane } }: Answered,
  { state, error, text, structuredOutput, toolBudgetBlocked }: ChildResult,
): ScriptView {
  const child = run.child(index);
  const { runId } = run.record;
  const ok = state === 'complete';
  const saved = savedOutput(child);
  const pointer = ok && saved !== undefined && plan.output?.mode === 'file-only';
  const { text: shown, truncated } = truncateOutput(text);
  const session = child?.session?.file ?? undefined;
  const files = [saved, truncated ? resultFile(run, child) : undefined, ...keptOf(run, child), session];
  return readHostResult(key, {
    ok,
    output: pointer ? pointerTo(saved, text) : shown,
    artifactPaths: [...new Set(files.filter((file) => file !== undefined))],
    runId: childRunId(runId, index),
    agent: plan.agent.name,
    ...(error === null ? {} : { error: error.message }),
    ...(structuredOutput === undefined ? {} : { structuredOutput }),
    ...(toolBudgetBlocked ? { toolBudgetBlocked } : {}),
    ...(state === 'stopped' ? { stopped: true } : {}),
    ...(state === 'paused' ? { interrupted: true } : {}),
    ...(saved === undefined ? {} : { outputReference: saved }),
    ...(child?.timedOut && !ok ? { terminalOutcome: { state: 'partial', reason: 'timeout' } } : {}),
    ...(lane === null ? {} : { lane }),
    ...(child ? { usage: child.usage } : {}),
    resumability: resumability(child),
  }).view;
}

function savedOutput(child: ChildView | undefined): string | undefined {
  const { path, outcome } = child?.output ?? {};
  return outcome === 'saved' || outcome === 'kept' ? path : undefined;
}

/** What was kept of its worktree, and the patch where there is one. */
function keptOf(run: OpenRun, child: ChildView | undefined): string[] {
  const { capture, files = 0 } = child?.worktree ?? {};
  if (!capture) return [];
  const path = join(run.layout.directory, capture.file);
  return files === 0 ? [path] : [path, join(dirname(path), PATCH_NAME)];
}

function resultFile(run: OpenRun, child: ChildView | undefined): string | undefined {
  return child?.result ? `${run.layout.directory}/${child.result.file}` : undefined;
}

function pointerTo(path: string, text: string): string {
  return `Saved to ${path} (${Buffer.byteLength(text)} bytes, ${text.split('\n').length} lines).`;
}

function resumability(child: ChildView | undefined) {
  const reason =
    child?.state === 'stopped'
      ? 'it was stopped'
      : child?.session?.file
        ? child.sessionState === 'damaged' || child.sessionState === 'missing'
          ? `its session file is ${child.sessionState}`
          : undefined
        : 'it has no session file';
  return reason === undefined ? { state: 'resumable' } : { state: 'not-resumable', reason };
}

const kept = z.object({
  text: z.string(),
  structuredOutput: z.optional(z.unknown()),
  toolBudgetBlocked: z.optional(z.literal(true)),
});

/**
 * What a settled child had come to. Without words when its result could not be saved.
 * @throws LanesError `run_unreadable` when it is not there any more as it was saved
 */
export async function readResult(
  run: OpenRun,
  { result }: ChildView,
): Promise<Pick<ChildResult, keyof z.infer<typeof kept>>> {
  if (!result) return { text: '' };
  const { text, structuredOutput, toolBudgetBlocked } = kept.parse(
    JSON.parse(await readStored(run.layout.directory, result)),
  );
  return {
    text,
    ...(structuredOutput === undefined ? {} : { structuredOutput }),
    ...(toolBudgetBlocked ? { toolBudgetBlocked } : {}),
  };
}
