export { KNOWN_TOOL, type KnownTool, ToolRegistry, type ToolRegistryOptions } from './tool-registry.ts';
