/** What `executeWorkflow` and `replayWorkflow` take and give. Imports nothing, so that it can be shipped as it is. */

/** What a host answers for a child. Further plain JSON fields are passed on to the script. */
export interface HostChildResult {
  ok?: boolean;
  output?: string;
  error?: string;
  runId?: string;
  agent?: string;
  artifactPaths?: string[];
  structuredOutput?: unknown;
  outputReference?: string;
  stopped?: boolean;
  interrupted?: boolean;
  detached?: boolean;
  usage?: { input?: number; output?: number; cost?: number };
  [field: string]: unknown;
}

export interface HostCommandResult {
  ok: boolean;
  state: string;
  exitCode?: number | null;
  stdout?: string;
  stderr?: string;
  outputPath?: string;
  durationMs?: number;
  error?: string;
}

export interface SteerReceipt {
  state: 'delivered' | 'queued' | 'missed' | 'failed';
  [field: string]: unknown;
}

export interface WorkflowReference {
  workflowRunId: string;
  key: string;
  latest: true;
}

/** Where the work of a workflow is done. A function that is absent makes its calls reject as not available. */
export interface WorkflowHost {
  /** Runs one child. A rejection is a failed child; after `signal` aborts, the answer no longer matters. */
  launch(call: {
    key: string;
    params: Record<string, unknown>;
    signal: AbortSignal;
  }): Promise<HostChildResult> | HostChildResult;
  steer?(call: {
    key: string;
    message: string;
    options: Record<string, unknown>;
    signal: AbortSignal;
  }): Promise<SteerReceipt> | SteerReceipt;
  hostCommand?(call: {
    key: string;
    params: Record<string, unknown>;
    signal: AbortSignal;
  }): Promise<HostCommandResult> | HostCommandResult;
  status?(runId: string): Promise<Record<string, unknown>> | Record<string, unknown>;
  /** The run id that a reference stands for. */
  resolveResume?(reference: WorkflowReference): Promise<string> | string;
}

/** Where `state.get` and `state.set` read and write. */
export interface WorkflowState {
  get(key: string): Promise<unknown> | unknown;
  set(key: string, value: unknown): Promise<unknown> | unknown;
}

export interface WorkflowProgress {
  trace: readonly WorkflowTraceRow[];
  emits: readonly unknown[];
  console: readonly { level: string; text: string }[];
}

export interface ExecuteWorkflowOptions {
  script: string;
  /** Plain JSON; the script reads it as `args`. */
  args?: unknown;
  host: WorkflowHost;
  /** With it the script has `state`. */
  state?: WorkflowState;
  /** Children that run at the same time; default 20. */
  globalConcurrencyLimit?: number;
  /** Milliseconds from the first step of the script, 1 to 2147483647; default: none. */
  timeoutMs?: number;
  /** Children the workflow may launch; default 64. */
  maxSubagentSpawnsPerRun?: number;
  usageBudget?: { tokens?: { soft?: number; hard: number }; costUsd?: { soft?: number; hard: number } };
  /** From which `Math.random` is derived: a whole number from 0 to 2^32. Default: chance. */
  seed?: number;
  signal?: AbortSignal;
  /** Called after each step with everything so far. What it throws changes nothing. */
  onProgress?: (progress: WorkflowProgress) => void;
}

export interface WorkflowTraceRow {
  operation: 'run' | 'status' | 'steer' | 'host';
  key: string;
  state: string;
  runId?: string;
  error?: string;
  agent?: string;
  durationMs?: number;
  phase?: string;
  label?: string;
  generatedLaneKey?: true;
  lane?: unknown;
}

export interface WorkflowFailure {
  message: string;
  kind:
    | 'script'
    | 'syntax'
    | 'validation'
    | 'timeout'
    | 'deadlock'
    | 'unawaited'
    | 'boundary'
    | 'detached-child'
    | 'limit'
    | 'diverged'
    | 'engine';
  /** Of the script, from 1. */
  line?: number;
  column?: number;
}

export interface WorkflowExecution {
  ok: boolean;
  value?: unknown;
  error?: WorkflowFailure;
  trace: WorkflowTraceRow[];
  emits: unknown[];
  console: { level: string; text: string }[];
  /** Children that were called and had not settled when the workflow ended. */
  abortedKeys: string[];
  /** Children that settled, in the order of their launch. */
  partialChildren: (HostChildResult & { key: string })[];
  terminalOutcome?: { state: 'partial'; reason: 'timeout' | 'budget_exhausted' };
  /** Steps of the engine, fuel (each unit about 10,000 operations), most heap of the script in bytes. */
  engine: { steps: number; fuel: number; heapBytes: number };
  /** Everything the run depended on, for `replayWorkflow`: plain JSON. */
  record: unknown;
}

export declare function executeWorkflow(options: ExecuteWorkflowOptions): Promise<WorkflowExecution>;

/** The same value, trace, emits and console as the execution that the record is of. */
export declare function replayWorkflow(record: unknown): Promise<Omit<WorkflowExecution, 'record'>>;
