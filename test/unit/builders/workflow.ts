import { type WorkflowRecord, workflowRecord } from '../../../src/protocol/index.ts';
import { aRecord } from './run.ts';

/** A complete launch record of a workflow, with what the test cares about laid over its plan. */
export function aWorkflow(over: Partial<WorkflowRecord['workflow']> = {}): WorkflowRecord {
  const { child: _, ...any } = aRecord();
  return workflowRecord.parse({
    ...any,
    mode: 'workflow',
    workflow: {
      name: 'harbour.workflow.js',
      file: '/somewhere/harbour.workflow.js',
      script: 'return 1',
      args: null,
      seed: 7,
      limits: { globalConcurrencyLimit: 20, maxSubagentSpawnsPerRun: 64 },
      host: { mode: 'ask', globs: [] },
      agents: [],
      models: [],
      ...over,
    },
  });
}
