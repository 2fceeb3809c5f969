/** What a launch of this version cannot do as a definition says. Left out silently, the agent would be another one. */
import type { Agent } from './agent.ts';

const ASKS: readonly { names: readonly string[]; isAsked: (agent: Agent) => boolean }[] = [
  {
    names: ['tools'],
    isAsked: ({ mcpDirectTools, toolExtensions }) => mcpDirectTools.length + toolExtensions.length > 0,
  },
  // With a list of tools they are taken off it; without one there is nothing to take them off.
  { names: ['excludeTools'], isAsked: ({ tools, excludeTools }) => tools === undefined && isFilled(excludeTools) },
  { names: ['allowNestedSubagents'], isAsked: ({ allowNestedSubagents }) => allowNestedSubagents === true },
  { names: ['fallbackModels'], isAsked: ({ fallbackModels }) => isFilled(fallbackModels) },
  { names: ['defaultProvider'], isAsked: ({ defaultProvider }) => defaultProvider !== undefined },
  { names: ['fast'], isAsked: ({ fast }) => fast },
  {
    names: ['inheritGlobalContext'],
    isAsked: ({ inheritGlobalContext, inheritProjectContext }) => inheritGlobalContext && inheritProjectContext,
  },
  { names: ['timeoutMs'], isAsked: ({ timeoutMs }) => timeoutMs !== undefined },
  { names: ['toolTimeoutMs'], isAsked: ({ toolTimeoutMs }) => toolTimeoutMs !== undefined },
  { names: ['toolBudget'], isAsked: ({ toolBudget }) => toolBudget !== undefined },
  { names: ['acceptance'], isAsked: ({ acceptance }) => acceptance !== undefined && acceptance !== false },
  { names: ['skills', 'skill'], isAsked: ({ skills }) => isFilled(skills) },
  { names: ['skillPath'], isAsked: ({ skillPath }) => isFilled(skillPath) },
  { names: ['extensions'], isAsked: ({ extensions }) => extensions !== undefined },
  { names: ['subagentOnlyExtensions'], isAsked: ({ subagentOnlyExtensions }) => isFilled(subagentOnlyExtensions) },
  { names: ['output'], isAsked: ({ output }) => output !== undefined },
  { names: ['outputMode'], isAsked: ({ outputMode }) => outputMode === 'file-only' },
  { names: ['defaultReads'], isAsked: ({ defaultReads }) => isFilled(defaultReads) },
  { names: ['defaultProgress'], isAsked: ({ defaultProgress }) => defaultProgress },
  { names: ['memory'], isAsked: ({ memory }) => memory !== undefined },
  {
    names: ['permission', 'permissions'],
    isAsked: ({ permissions }) => Object.values(permissions ?? {}).some((rule) => rule !== 'allow'),
  },
  { names: ['runner'], isAsked: ({ runner }) => runner.type !== 'pi' },
];

/** Names of the fields, as the file or settings have them. */
export function unsupportedFields(agent: Agent & { fromSettings?: Record<string, unknown> }): string[] {
  const { places, fromSettings = {} } = agent;
  return ASKS.flatMap(({ names, isAsked }) =>
    isAsked(agent) ? names.filter((name) => Object.hasOwn(places, name) || Object.hasOwn(fromSettings, name)) : [],
  );
}

function isFilled(list: readonly string[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}
