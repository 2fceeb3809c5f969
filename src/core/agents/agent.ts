/** What the definition of an agent says. */
import type { AgentContract, TextRange, ToolBudget } from '../../protocol/index.ts';
import type { ThinkingLevel } from '../models/index.ts';

export type AgentSource = AgentContract['source'];

/** Who the agent's work is done by. */
export type AgentRunner =
  | { type: 'pi' }
  | {
      type: 'external-cli';
      command?: string;
      args?: string[];
      adapter?: string;
      promptDelivery?: 'stdin';
      capabilities?: unknown;
    }
  | { type: 'external-job'; provider: string; options?: unknown };

/** A definition, whatever this version does with it. A field that is absent was not declared. */
export interface Agent {
  /** By which it is launched: `<package>.<local name>`, or the local name alone. */
  name: string;
  localName: string;
  package?: string;
  description: string;
  aliases: string[];
  source: AgentSource;
  /** Absolute; of a builtin agent the name of the file it is made from. */
  file: string;
  /** The body of the file, with LF line ends. */
  systemPrompt: string;
  systemPromptMode: AgentContract['systemPromptMode'];
  inheritProjectContext: boolean;
  inheritGlobalContext: boolean;
  inheritSkills: boolean;
  defaultContext?: 'fresh' | 'fork';
  /** Absent: what Pi offers. Empty: none. */
  tools?: string[];
  /** Of `tools`: `server` or `server/tool`. */
  mcpDirectTools: string[];
  /** Of `tools`: paths of extensions that bring tools, absolute where they were relative to the file. */
  toolExtensions: string[];
  excludeTools?: string[];
  allowNestedSubagents?: boolean;
  /** `inherit`: that of the parent. */
  model?: string;
  /** Of models without a provider. Only settings say this. */
  defaultProvider?: string;
  fallbackModels?: string[];
  fast: boolean;
  /** False: no level is asked for. */
  thinking?: ThinkingLevel | false;
  async?: boolean;
  /** Milliseconds. */
  timeoutMs?: number;
  toolTimeoutMs?: number;
  toolBudget?: ToolBudget;
  maxSubagentDepth?: number;
  acceptance?: string | false | Record<string, unknown>;
  acceptanceRole?: 'read-only' | 'writer';
  completionGuard: boolean;
  skills?: string[];
  skillPath?: string[];
  /** Absent: those Pi finds. Empty: none. */
  extensions?: string[];
  subagentOnlyExtensions?: string[];
  mutationTools?: string[];
  output?: string;
  outputMode?: 'inline' | 'file-only';
  defaultReads?: string[];
  defaultProgress: boolean;
  interactive: boolean;
  memory?: { scope: 'project' | 'user'; path: string };
  permissions?: Record<string, 'allow' | 'ask' | 'deny'>;
  runner: AgentRunner;
  advertise: boolean;
  /** Fields nobody here knows, as they are written. */
  extraFields: Record<string, string>;
  /** Where each declared field stands, by its name in the file. */
  places: Record<string, TextRange>;
}
