import { type WorkflowLimits, type WorkflowRecord, workflowRecord } from '../../../src/protocol/index.ts';
import { aRecord } from './run.ts';

/** Launch record of a workflow, with other limits where they are given. */
export function aWorkflow(limits: Partial<WorkflowLimits> = {}, timeoutMs: number | null = null): WorkflowRecord {
  const { child: _, ...any } = aRecord();
  return workflowRecord.parse({
    ...any,
    mode: 'workflow',
    timeoutMs,
    workflow: {
      name: 'harbour.workflow.js',
      file: '/somewhere/harbour.workflow.js',
      script: 'return 1',
      args: null,
      seed: 7,
      limits: { globalConcurrencyLimit: 20, maxSubagentSpawnsPerRun: 64, ...limits },
      host: { mode: 'ask', globs: [] },
      agents: [],
      models: [],
    },
  });
}
