/** Apart from the definitions themselves: a runner looks names up and reads no files, and needs no YAML. */
export { findAgent, listed, type Named } from './find-agent.ts';
export { workflowAgent } from './workflow-agent.ts';
