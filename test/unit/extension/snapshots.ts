import type { RunSnapshot } from '../../../src/client/index.ts';
import { initialView, newRunId } from '../../../src/core/runs/index.ts';
import { isTerminal, type RunState, type RunView, type WorkflowView } from '../../../src/protocol/index.ts';
import { aRecord } from '../builders/run.ts';
import { aWorkflow } from '../builders/workflow.ts';

/** A run as a view sees it. `unknown` has nothing that could be read. */
export function aSnapshot(state: RunState, options: { at?: number; task?: string; over?: Partial<RunView> } = {}) {
  const at = options.at ?? Date.now();
  const { child } = aRecord();
  const record = aRecord({
    runId: newRunId(at),
    createdAt: at,
    child: { ...child, task: options.task ?? child.task, model: 'fake/scripted' },
  });
  const stored = state === 'lost' || state === 'unresponsive' || state === 'unknown' ? 'running' : state;
  const view = { ...initialView(record), state: stored, endedAt: isTerminal(state) ? at : null, ...options.over };
  const snapshot: RunSnapshot = {
    runId: record.runId,
    directory: `/runs/${record.runId}`,
    state,
    view: state === 'unknown' ? null : view,
    error: null,
    skipped: 0,
  };
  return snapshot;
}

/** The same of a workflow. */
export function aWorkflowIn(
  state: RunView['state'],
  over: Partial<RunView> = {},
  workflow: Partial<WorkflowView> = {},
): RunSnapshot {
  const initial = initialView(aWorkflow({ name: 'harbour' }));
  const view: RunView = { ...initial, state, ...over };
  if (initial.workflow) view.workflow = { ...initial.workflow, ...workflow };
  return { runId: view.runId, directory: `/runs/${view.runId}`, state, view, error: null, skipped: 0 };
}
