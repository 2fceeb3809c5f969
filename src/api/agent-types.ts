/** What `discoverAgents` takes and gives. Imports nothing, so that it can be shipped as it is. */

export interface DiscoverAgentsOptions {
  /** The folder the agents are looked for from: absolute, or relative to the folder of the process. */
  cwd: string;
  /** Pi's agent folder, as `cwd`. */
  agentDir: string;
  /** Default: the home folder of whoever runs the process. */
  home?: string;
  /** `user`: builtin, of the user and the user's packages; `project`: builtin, of the project and its packages. Default: `both`. */
  scope?: 'user' | 'project' | 'both';
  /** The provider that overrides for single providers are made for. Without it those are left out. */
  provider?: string;
  /** Default: the environment of the process. */
  env?: Record<string, string | undefined>;
}

/** A place in a text. Lines and columns count from 1, columns in UTF-16 units; the end is exclusive. */
export interface AgentTextRange {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

/** Where a setting stands. */
export interface AgentSettingPlace extends AgentTextRange {
  /** Absolute. */
  file: string;
  /** As `subagents.agentOverrides.worker.model`. */
  setting: string;
}

/** A definition as settings leave it. A field that is absent was not declared. */
export interface DiscoveredAgent {
  /** By which it is launched: `<package>.<localName>`, or `localName` alone. */
  name: string;
  localName: string;
  package?: string;
  description: string;
  aliases: string[];
  source: 'builtin' | 'package' | 'user' | 'project' | 'runtime';
  /** Absolute; of a builtin agent the name of the file it is made from. */
  file: string;
  /** The package it comes with. */
  fromPackage?: { name: string; version?: string };
  /** Whether it comes from the project: from its own folders, or from its packages. */
  isOfProject: boolean;
  systemPrompt: string;
  systemPromptMode: 'replace' | 'append';
  inheritProjectContext: boolean;
  inheritGlobalContext: boolean;
  inheritSkills: boolean;
  defaultContext?: 'fresh' | 'fork';
  /** Absent: what Pi offers. Empty: none. */
  tools?: string[];
  /** Entries `mcp:…` of `tools`, without `mcp:`. */
  mcpDirectTools: string[];
  /** Entries of `tools` that are paths of extensions. */
  toolExtensions: string[];
  excludeTools?: string[];
  allowNestedSubagents?: boolean;
  /** `inherit`: that of the parent. */
  model?: string;
  /** Of models without a provider; only settings say this. */
  defaultProvider?: string;
  fallbackModels?: string[];
  fast: boolean;
  /** False: no level is asked for. */
  thinking?: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | false;
  async?: boolean;
  /** Milliseconds, as is `toolTimeoutMs`. */
  timeoutMs?: number;
  toolTimeoutMs?: number;
  toolBudget?: { soft?: number | undefined; hard: number; block?: '*' | string[] | undefined };
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
  runner: { type: 'pi' | 'external-cli' | 'external-job'; [field: string]: unknown };
  advertise: boolean;
  /** Fields that are not known here, as they are written. */
  extraFields: Record<string, string>;
  /** Where each declared field stands, by its name in the file. */
  places: Record<string, AgentTextRange>;
  /** Fields that settings have changed, and where they say so. Absent: none. */
  fromSettings?: Record<string, AgentSettingPlace>;
}

export interface AgentFileDiagnostic extends AgentTextRange {
  /** Absolute; a folder where it is one that cannot be read. */
  file: string;
  /** The agent's name, as far as it could be made out. */
  name?: string;
  /** The field it is about. */
  field?: string;
  /** Stable; the table of codes is in `docs/agents.md`. */
  code: string;
  /** `error`: the definition is not used, and no weaker one of its name is either. */
  severity: 'error' | 'warning' | 'info';
  message: string;
  /** The next step. */
  hint: string;
}

export interface AgentDirectoryState {
  path: string;
  source: 'package' | 'user' | 'project';
  state: 'absent' | 'empty' | 'candidates' | 'unreadable' | 'not-a-directory';
  /** Markdown files that were looked at. */
  candidates: number;
}

export interface AgentDiscoveryResult {
  /** One per name, the strongest: of the project, of the user, of packages, builtin. */
  agents: DiscoveredAgent[];
  /** Names that settings take away: no weaker definition takes their place. */
  disabled: { agent: DiscoveredAgent; by: AgentSettingPlace }[];
  diagnostics: AgentFileDiagnostic[];
  /** Folders that were looked through, from the weakest to the strongest. */
  directories: AgentDirectoryState[];
}

/**
 * The agents there are for a folder, as they are now. Starts nothing, writes nothing. Files are kept in memory and read again when
 * they have changed. Rejects with a `TypeError` for options that are none; whatever is wrong with a file is a diagnostic.
 */
export declare function discoverAgents(options: DiscoverAgentsOptions): Promise<AgentDiscoveryResult>;
