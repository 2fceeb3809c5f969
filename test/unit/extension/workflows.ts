/** Workflow runs as views see them, folded from what their journal says. */
import type { RunSnapshot } from '../../../src/client/index.ts';
import { foldRun } from '../../../src/core/runs/index.ts';
import {
  isTerminal,
  type JournalEvent,
  type PlannedLane,
  type RunState,
  workflowRecord,
} from '../../../src/protocol/index.ts';
import { oneOfEach } from '../builders/events.ts';
import { aRecord, lines } from '../builders/run.ts';

/** A workflow `harbour` to which this happened. `state`: what is known beside the journal. */
export function aWorkflowSnapshot(
  events: readonly JournalEvent[],
  options: { runId?: string; state?: RunState; at?: number } = {},
): RunSnapshot {
  const at = options.at ?? Date.now();
  const { child: _, ...any } = aRecord({ ...(options.runId ? { runId: options.runId } : {}), createdAt: at });
  const record = workflowRecord.parse({
    ...any,
    mode: 'workflow',
    workflow: {
      name: 'harbour',
      file: '/somewhere/harbour.workflow.js',
      script: 'return 1',
      args: null,
      seed: 7,
      limits: { globalConcurrencyLimit: 20, maxSubagentSpawnsPerRun: 64 },
      host: { mode: 'ask', globs: [] },
      agents: [],
      models: [],
    },
  });
  const view = foldRun(record, lines([oneOfEach['run.proceeded'], ...events], at));
  const state = isTerminal(view.state) ? view.state : (options.state ?? view.state);
  return { runId: record.runId, directory: `/runs/${record.runId}`, state, view, error: view.error, skipped: 0 };
}

export const lane = (key: string, ...stages: string[]): PlannedLane => ({
  key,
  stages: stages.map((stage) => ({ key: `${key}.${stage}`, label: null, agent: 'scout' })),
});

export const announced = (...lanes: PlannedLane[]): JournalEvent => ({ type: 'workflow.planned', step: 1, lanes });

/** The script's call `call` began this child. */
export function begun(child: number, key: string, call: number = child): JournalEvent[] {
  return [
    { ...oneOfEach['child.planned'], child, key, id: call, agent: 'scout' },
    { ...oneOfEach['child.spawn.intended'], child, attempt: 1 },
    { ...oneOfEach['child.prompted'], child },
  ];
}

export function settled(
  child: number,
  state: 'complete' | 'failed' | 'stopped' = 'complete',
  more: { verdict?: string } = {},
): JournalEvent {
  const { error: _, ...event } = oneOfEach['child.settled'];
  return { ...event, child, state, error: state === 'failed' ? oneOfEach['child.settled'].error : null, ...more };
}

export function works(child: number, tool: string): JournalEvent {
  return { ...oneOfEach['child.progress'], child, phase: 'tool', tool };
}

export const asks = (child: number, questionId = 'q'): JournalEvent => ({
  ...oneOfEach['question.asked'],
  child,
  questionId,
});

export const asksToRun = (id: number, key: string, command: string): JournalEvent => ({
  ...oneOfEach['question.asked'],
  questionId: `host-${id}-1`,
  child: null,
  method: 'confirm',
  title: 'Run this command in /somewhere?',
  message: `${command}\n\n(${key} of the workflow harbour)`,
  options: [],
  host: { id, key, command, role: null },
});
