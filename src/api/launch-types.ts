/** What `planLaunch` takes and gives. Stands in one file with the types it imports when it is shipped. */
import type { DiscoveredAgent } from './agent-types.ts';
import type { ModelRequestSource, RegisteredModel } from './model-types.ts';

type Level = 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
type ToolRule = 'allow' | 'ask' | 'deny';

export interface LaunchCallOptions {
  task: string;
  label?: string;
  /** Of a child of a workflow. */
  key?: string;
  /** As `resolveModel` takes it. */
  model?: string;
  thinking?: Level;
  /** `profile`: as the agent declares it. */
  context?: 'fresh' | 'fork' | 'profile';
  /** Names of skills instead of the agent's; `false`: none; `true`: the agent's. */
  skill?: string[] | boolean;
  /** Absolute; `false`: none; `true` or absent: the agent's own. */
  output?: string | boolean;
  outputMode?: 'inline' | 'file-only';
  outputSchema?: Record<string, unknown>;
  /** Milliseconds; null: no limit. */
  timeoutMs?: number | null;
  toolTimeoutMs?: number;
  toolBudget?: { soft?: number; hard: number; block?: '*' | string[] };
  extensionBindings?: Record<string, unknown>;
}

/** What call and agent leave open, and bounds that nobody exceeds. */
export interface LaunchSettingOptions {
  model?: string;
  thinking?: Level;
  preferredProvider?: string;
  context?: 'fresh' | 'fork';
  timeoutMs?: number;
  toolTimeoutMs?: number;
  toolBudget?: { soft?: number; hard: number; block?: '*' | string[] };
  /** Whether and how long a child waits for runs it starts itself. */
  wait?: { enabled: boolean; defaultTimeoutMs: number };
  maxThinking?: Level;
  modelScope?: {
    enforce?: boolean;
    strict?: boolean;
    allow?: string[];
    agents?: Record<string, { enforce?: boolean; strict?: boolean; allow?: string[] }>;
  };
}

export interface PlanLaunchOptions {
  call: LaunchCallOptions;
  /** As `discoverAgents` finds it. */
  agent: DiscoveredAgent;
  settings?: LaunchSettingOptions;
  /** Whether what stands in the project's folder may take part. */
  trust: 'approve' | 'no-approve';
  /** Bounds of the run, the same at every depth. */
  limits?: {
    ceiling?: { allowedTools?: string[]; allowedAgents?: string[]; denyExtensions?: boolean };
    toolRules?: Record<string, ToolRule>;
  };
  /** The usable models; null: names are taken as they stand. */
  registry: RegisteredModel[] | null;
  /** What Pi takes when nobody names a model. */
  piDefault?: { model: string | null; thinking: Level | null };
  parent?: { model?: string; session?: { file: string } };
  /** Folder it works in, absolute. */
  cwd: string;
  /** Folder for outputs that the agent names by a relative path, absolute. */
  outputs: string;
  /** File for notes of the whole run, absolute. */
  progressFile: string;
  /** What lies on the disk; absent: nothing does. */
  around?: {
    /** Files of `defaultReads` that are there, absolute. */
    reads?: string[];
    skills?: { name: string; path: string }[];
    missingSkills?: string[];
    missingExtensions?: string[];
    memory?: { file: string; text: string | null } | null;
    hasProgress?: boolean;
  };
}

export interface PlannedLaunch {
  model: string | null;
  thinking: string | null;
  /** The models in the order they are tried. */
  candidates: { model: string | null; thinking: string | null; source: ModelRequestSource }[];
  /** Whether the call named the model: then no other is ever used. */
  modelIsExplicit: boolean;
  /** Exactly those the model will be told of; null: what Pi offers, within `toolBounds`. */
  tools: string[] | null;
  toolBounds: { only?: string[]; denied?: string[]; asked?: string[] };
  extensions: { found: boolean; paths: string[] };
  skills: { found: boolean; paths: string[] };
  context: 'fresh' | 'fork';
  forkOf: string | null;
  cwd: string;
  output: { path: string; mode: 'inline' | 'file-only' } | null;
  timeoutMs: number | null;
  toolTimeoutMs: number | null;
  toolBudget: { soft?: number | undefined; hard: number; block?: '*' | string[] | undefined } | null;
  wait: { enabled: boolean; defaultTimeoutMs: number };
  trust: 'approve' | 'no-approve';
  sessionName: string;
  /** The first message, and what Pi is told beside it. */
  prompt: string;
  systemPrompt: { mode: 'replace' | 'append'; text: string };
  /** Lower-case hex sha256; equal for equal launches. */
  digests: { definition: string; launch: string };
  /** What could not be done as the agent says. */
  warnings: { code: string; message: string; hint?: string }[];
}

export type LaunchPlanning =
  | { ok: true; plan: PlannedLaunch }
  | { ok: false; code: string; message: string; hint?: string };

/**
 * What a launch will run, from what is asked for, the agent, the settings and the bounds of the run: the same function that runner and
 * editor use. Pure. Throws a `TypeError` for options that are none; a launch that cannot be is an answer.
 */
export declare function planLaunch(options: PlanLaunchOptions): LaunchPlanning;
