/** What an agent can do, in short: for lists that people and models choose from. Never its prompt. */
import { cutText } from '../../protocol/index.ts';
import type { FoundAgent } from './discovery.ts';
import { unsupportedFields } from './unsupported.ts';

export interface AgentCapabilities {
  name: string;
  description: string;
  source: FoundAgent['source'];
  aliases: string[];
  /** Whether this version can launch it as it is defined. */
  executable: boolean;
  /** Fields that keep it from being launched. */
  unsupported: string[];
  runner: FoundAgent['runner']['type'];
  tools: { ambient: boolean; names: string[]; excludeTools: string[]; mcpDirectTools: string[] };
  model: { value: string | null; fallbackModels: string[]; thinking: string | null };
  execution: { async: boolean | null; timeoutMs: number | null };
  output: { path: string; mode: 'inline' | 'file-only' } | null;
}

const MAX_DESCRIPTION_CHARS = 1000;

export function capabilitiesOf(agent: FoundAgent): AgentCapabilities {
  const unsupported = unsupportedFields(agent);
  return {
    name: agent.name,
    description: cutText(agent.description, MAX_DESCRIPTION_CHARS),
    source: agent.source,
    aliases: agent.aliases,
    executable: unsupported.length === 0,
    unsupported,
    runner: agent.runner.type,
    tools: {
      ambient: agent.tools === undefined,
      names: agent.tools ?? [],
      excludeTools: agent.excludeTools ?? [],
      mcpDirectTools: agent.mcpDirectTools,
    },
    model: {
      value: agent.model === undefined || agent.model === 'inherit' ? null : agent.model,
      fallbackModels: agent.fallbackModels ?? [],
      thinking: agent.thinking === false ? 'off' : (agent.thinking ?? null),
    },
    execution: { async: agent.async ?? null, timeoutMs: agent.timeoutMs ?? null },
    output: agent.output === undefined ? null : { path: agent.output, mode: agent.outputMode ?? 'inline' },
  };
}
