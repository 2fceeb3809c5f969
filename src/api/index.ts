/** The module for programs: `import { validateWorkflow, executeWorkflow, discoverAgents, resolveModel, planLaunch } from '…/dist/api.js'`. Documented in docs/api.md. */
import { fileURLToPath } from 'node:url';
import { ScriptValidator, toValidation } from '../core/workflow/index.ts';
import { analysisOptions, describeFaults } from '../protocol/index.ts';
import type * as types from './types.ts';

export type * from './agent-types.ts';
export { discoverAgents } from './agents.ts';
export type * from './launch-types.ts';
export { planLaunch } from './launches.ts';
export type * from './model-types.ts';
export { resolveModel } from './models.ts';
export type * from './types.ts';
export { executeWorkflow, replayWorkflow } from './workflow-execution.ts';
export type * from './workflow-execution-types.ts';

// One worker for all calls; idle, it does not keep the process alive.
const validator = new ScriptValidator({ worker: fileURLToPath(new URL('./validate-worker.mjs', import.meta.url)) });

export const validateWorkflow: typeof types.validateWorkflow = async (script, options = {}) => {
  if (typeof script !== 'string')
    throw new TypeError(`The script is ${script === null ? 'null' : typeof script}; it must be a string.`);
  const parsed = analysisOptions.safeParse(options);
  if (!parsed.success)
    throw new TypeError(`The options of validateWorkflow are wrong: ${describeFaults(parsed.error)}.`);
  const unknown = Object.keys(options).find((name) => name !== 'maxSubagentSpawnsPerRun');
  if (unknown !== undefined)
    throw new TypeError(`validateWorkflow has no option "${unknown}"; it takes maxSubagentSpawnsPerRun.`);
  return toValidation((await validator.analyse(script, parsed.data)).findings);
};
