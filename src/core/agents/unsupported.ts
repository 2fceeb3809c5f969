/** What a launch of this version cannot do as a definition says. Left out silently, the agent would be another one. */
import type { Agent } from './agent.ts';

const ASKS: readonly { names: readonly string[]; isAsked: (agent: Agent) => boolean }[] = [
  {
    names: ['tools'],
    isAsked: ({ mcpDirectTools, toolExtensions }) => mcpDirectTools.length + toolExtensions.length > 0,
  },
  { names: ['allowNestedSubagents'], isAsked: ({ allowNestedSubagents }) => allowNestedSubagents === true },
  { names: ['fast'], isAsked: ({ fast }) => fast },
  { names: ['acceptance'], isAsked: ({ acceptance }) => acceptance !== undefined && acceptance !== false },
  { names: ['runner'], isAsked: ({ runner }) => runner.type !== 'pi' },
];

/** Names of the fields, as the file or settings have them. */
export function unsupportedFields(agent: Agent & { fromSettings?: Record<string, unknown> }): string[] {
  const { places, fromSettings = {} } = agent;
  return ASKS.flatMap(({ names, isAsked }) =>
    isAsked(agent) ? names.filter((name) => Object.hasOwn(places, name) || Object.hasOwn(fromSettings, name)) : [],
  );
}
