export type { Agent, AgentRunner, AgentSource } from './agent.ts';
export { type AgentChange, AgentChanges, type ChangeScope } from './agent-changes.ts';
export { AGENT_WORDS, type AgentConfig, plainName, typedValue } from './agent-config.ts';
export { FIELDS } from './agent-fields.ts';
export { type AgentCapabilities, capabilitiesOf } from './capabilities.ts';
export { bundledAgents, bundledText } from './catalogue.ts';
export { type ImportedAgent, importClaudeAgent } from './claude-agent.ts';
export { toContract } from './contract.ts';
export {
  type AgentDirectory,
  AgentDiscovery,
  type DisabledAgent,
  type Discovered,
  type DiscoveryRequest,
  type FoundAgent,
  type HiddenAgent,
  type RefusedAgent,
} from './discovery.ts';
export { ADAPTERS, EVIDENCE, WITHOUT_PERMISSION } from './field-shapes.ts';
export { findHeader, type LineField, lineFields, type Span } from './header-lines.ts';
export type { SettingPlace } from './overrides.ts';
export { packageSkills } from './packages.ts';
export { type ParsedAgent, parseAgent } from './parse-agent.ts';
export type { AgentScope } from './places.ts';
export { findMarkedRoot, findProjectRoot } from './project-root.ts';
export { unsupportedFields } from './unsupported.ts';
export { type DirectoryState, isBelow } from './walk.ts';
