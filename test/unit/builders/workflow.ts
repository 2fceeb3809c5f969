import { type WorkflowLimits, type WorkflowRecord, workflowRecord } from '../../../src/protocol/index.ts';
import { aRecord } from './run.ts';

/** What a test cares about of a workflow: its plan, and single limits of it. */
interface WorkflowParts extends Partial<Omit<WorkflowRecord['workflow'], 'limits'>> {
  limits?: Partial<WorkflowLimits>;
}

/** A complete launch record of a workflow, with what the test cares about laid over it. */
export function aWorkflow({ limits, ...over }: WorkflowParts = {}, timeoutMs: number | null = null): WorkflowRecord {
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
      ...over,
    },
  });
}
