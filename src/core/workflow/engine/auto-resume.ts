/** A child that was aborted while it was being set up, before it did anything: it is resumed by itself, once. */
import { type ChildView, isObject } from './child-result.ts';

const ABORTED = 'This operation was aborted';
const CONTINUE = 'Continue where you were interrupted.';

/** What a child keeps; everything else was agreed with the run that is resumed. */
const KEPT: ReadonlySet<string> = new Set([
  'acceptance',
  'agentContract',
  'baseRef',
  'index',
  'intercomBridge',
  'label',
  'lane',
  'maxRuntimeMs',
  'output',
  'outputMode',
  'outputSchema',
  'phase',
  'skill',
  'timeoutMs',
  'toolBudget',
  'worktree',
]);

/** The parameters to launch it with again; nothing when it failed in any other way. */
export function resumedParams(
  params: Readonly<Record<string, unknown>>,
  view: ChildView,
): Record<string, unknown> | undefined {
  if (view.ok || view.stopped || view.interrupted || view.detached || view.runId === undefined) return undefined;
  if (view.error !== ABORTED || !usedNothing(view['usage']) || !isEmptyAbort(view['lastAssistantMessage'])) {
    return undefined;
  }
  const kept = Object.entries(params).filter(([name]) => KEPT.has(name));
  const task = params['task'];
  return {
    ...Object.fromEntries(kept),
    resume: view.runId,
    task: typeof task === 'string' && task.trim() !== '' ? task : CONTINUE,
  };
}

function usedNothing(usage: unknown): boolean {
  return isObject(usage) && Object.values(usage).every((value) => typeof value !== 'number' || value === 0);
}

function isEmptyAbort(message: unknown): boolean {
  if (message === undefined) return true;
  if (!isObject(message) || message['stopReason'] !== 'error' || message['errorMessage'] !== ABORTED) return false;
  const said = message['text'];
  return (said === undefined || said === '') && (message['usage'] === undefined || usedNothing(message['usage']));
}
