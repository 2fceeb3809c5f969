export { type Agent, parseAgentFile, THINKING_LEVELS, toContract } from './agent-file.ts';
export { bundledAgents, findAgent } from './catalogue.ts';
