/** The part of Pi's extension interface that is used here: the same in 0.73, 0.80 and 1.6. */

export interface PiContext {
  ui: {
    setStatus(key: string, text: string): void;
    /** Waits for a person. */
    confirm(title: string, message: string, options: { signal?: AbortSignal }): Promise<boolean>;
  };
  /** The one that is used now. */
  model?: { provider: string } | undefined;
  /** Of the work that is under way. */
  signal?: AbortSignal | undefined;
}

export interface ToolCall {
  toolName: string;
  input?: unknown;
}

interface ToolResult {
  content: readonly unknown[];
}

export interface PiTool {
  name: string;
  label: string;
  description: string;
  /** A JSON schema. Pi checks the arguments of a call against it, and converts what can be converted, before it calls. */
  parameters: object;
  /** Fails by throwing. `terminate`: the model is not asked again. */
  execute(
    callId: string,
    parameters: unknown,
  ): Promise<{ content: { type: 'text'; text: string }[]; details: object; terminate: boolean }>;
}

export interface BeforeAgentStart {
  /** As it is so far. */
  systemPrompt: string;
  /** What it is made of. Versions that know `sections` make it once more when this was changed. */
  systemPromptOptions?:
    | { contextFiles?: { path: string; content: string }[]; sections?: Record<string, string> }
    | undefined;
}

interface Refused {
  block: true;
  reason: string;
}

export interface Pi {
  on(event: 'session_start', handler: () => void): void;
  /** Before anything comes of what is said to the child. `handled`: nothing does. */
  on(event: 'input', handler: (event: unknown, context: PiContext) => { action: 'handled' } | undefined): void;
  on(
    event: 'tool_call',
    handler: (call: ToolCall, context: PiContext) => Refused | undefined | Promise<Refused | undefined>,
  ): void;
  on(event: 'before_agent_start', handler: (event: BeforeAgentStart) => { systemPrompt: string } | undefined): void;
  on(event: 'tool_result', handler: (result: ToolResult) => ToolResult | undefined): void;
  /** Waited for before the model is asked, again for each retry. Older versions of Pi do not know it. */
  on(event: 'before_provider_request', handler: (event: unknown, context: PiContext) => Promise<void>): void;
  /** An answer that is no refusal has begun. */
  on(event: 'after_provider_response', handler: () => void): void;
  registerTool(tool: PiTool): void;
  getAllTools(): { name: string }[];
  /** Those the model is told of. */
  getActiveTools(): string[];
  setActiveTools(names: string[]): void;
}
