/**
 * Agents of Claude Code (`.claude/agents/*.md`) as agents of Pi. What means the same is taken over; what does not is left out
 * and told, never guessed: an agent gets no tool that it did not have. Pure.
 */
import { lanesError } from '../../protocol/index.ts';
import type { AgentConfig } from './agent-config.ts';
import { commaList } from './header-lines.ts';
import { parseAgent } from './parse-agent.ts';

export interface ImportedAgent {
  config: AgentConfig;
  /** What could not be taken over, as it stands there. */
  left: { field: string; value: string }[];
}

/** Tools of Claude Code, by what Pi calls them. */
const TOOLS: Readonly<Record<string, string>> = {
  Read: 'read',
  Grep: 'grep',
  Glob: 'find',
  LS: 'ls',
  Bash: 'bash',
  Edit: 'edit',
  MultiEdit: 'edit',
  Write: 'write',
};

/** Fields without a meaning for the work. */
const WITHOUT_MEANING = ['color'];

/** @param file that the text is from; @throws LanesError `agent_invalid` for one that is no definition */
export function importClaudeAgent(text: string, file: string): ImportedAgent {
  const { agent, name = file, diagnostics } = parseAgent(text, { file, source: 'user' });
  if (!agent) {
    const fault = diagnostics[0];
    throw lanesError('agent_invalid', {
      name,
      file,
      line: fault?.line ?? 1,
      column: fault?.column ?? 1,
      reason: fault?.message ?? '',
    });
  }
  const left: ImportedAgent['left'] = [];
  const mapped = (field: string, names: readonly string[]) => [
    ...new Set(
      names.flatMap((one) => {
        const own = Object.hasOwn(TOOLS, one) ? TOOLS[one] : undefined;
        if (own === undefined) left.push({ field, value: one });
        return own ?? [];
      }),
    ),
  ];
  const { tools, model, skills, extraFields } = agent;
  const { disallowedTools, ...others } = extraFields;
  const config: Record<string, unknown> = {
    name: agent.localName,
    description: agent.description,
    // Agents of Claude Code read CLAUDE.md, which is one of the files that Pi tells the project by.
    inheritProjectContext: true,
    systemPrompt: agent.systemPrompt,
  };
  if (tools !== undefined) config['tools'] = mapped('tools', tools);
  if (disallowedTools !== undefined) config['excludeTools'] = mapped('disallowedTools', commaList(disallowedTools));
  if (skills !== undefined) config['skills'] = skills;
  // Its names of models (sonnet, opus) mean the newest of a kind, which is a choice of that program.
  if (model === 'inherit') config['model'] = model;
  else if (model !== undefined) left.push({ field: 'model', value: model });
  for (const [field, value] of Object.entries(others)) {
    if (!WITHOUT_MEANING.includes(field)) left.push({ field, value });
  }
  for (const field of ['memory', 'permissions', 'permission']) {
    if (Object.hasOwn(agent.places, field)) left.push({ field, value: 'its own form' });
  }
  return { config, left };
}
