/** Agent definitions: Markdown with a YAML header between `---` lines; the body is the system prompt. */
import { parse as parseYaml, YAMLParseError } from 'yaml';
import * as z from 'zod/mini';
import { type AgentContract, describeFaults, lanesError } from '../../protocol/index.ts';

/** `a, b` or a YAML list. */
const list = z.pipe(
  z.union([z.string(), z.array(z.string()), z.null()]),
  z.transform((value) =>
    (value === null ? [] : typeof value === 'string' ? value.split(',') : value)
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  ),
);

export const THINKING_LEVELS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

const header = z.object({
  name: z.string().check(z.regex(/\S/)),
  description: z.string().check(z.regex(/\S/)),
  aliases: z._default(list, []),
  tools: z.optional(list),
  model: z.optional(z.string()),
  thinking: z.optional(z.enum(THINKING_LEVELS)),
  systemPromptMode: z._default(z.enum(['replace', 'append']), 'replace'),
  inheritProjectContext: z._default(z.boolean(), false),
  inheritSkills: z._default(z.boolean(), false),
});

export interface Agent {
  name: string;
  description: string;
  aliases: string[];
  source: AgentContract['source'];
  tools: string[] | undefined;
  model: string | undefined;
  thinking: string | undefined;
  systemPromptMode: AgentContract['systemPromptMode'];
  inheritProjectContext: boolean;
  inheritSkills: boolean;
  systemPrompt: string;
}

/** Parses one definition; throws `agent_invalid` naming the file, the field and the rule. */
export function parseAgentFile(text: string, file: string, source: Agent['source']): Agent {
  const match = /^---\r?\n([\s\S]*?)\r?\n---[^\n]*(?:\r?\n([\s\S]*))?$/.exec(text);
  if (!match) throw lanesError('agent_invalid:header', { file });
  let raw: unknown;
  try {
    raw = parseYaml(match[1] ?? '');
  } catch (error) {
    throw lanesError('agent_invalid:yaml', {
      file,
      reason: error instanceof YAMLParseError ? error.message : String(error),
    });
  }
  const parsed = header.safeParse(raw);
  if (!parsed.success) throw lanesError('agent_invalid:field', { file, faults: describeFaults(parsed.error) });
  const { tools, model, thinking, ...rest } = parsed.data;
  return { ...rest, tools, model, thinking, source, systemPrompt: (match[2] ?? '').trim() };
}

/** The part of a definition that a run keeps. */
export function toContract(agent: Agent): AgentContract {
  return {
    name: agent.name,
    description: agent.description,
    source: agent.source,
    systemPrompt: agent.systemPrompt,
    systemPromptMode: agent.systemPromptMode,
    ...(agent.tools === undefined ? {} : { tools: agent.tools }),
    inheritProjectContext: agent.inheritProjectContext,
    inheritSkills: agent.inheritSkills,
  };
}
