/** Names that workflow scripts of Pi Lanes have. Everything else of the script is plain JavaScript. */

/** A value that can cross between script and host. */
type PiLanesJson = string | number | boolean | null | PiLanesJson[] | { [name: string]: PiLanesJson | undefined };

/** What the launch of one child takes. Further fields of plain JSON are handed on. */
interface PiLanesLaunch {
  /** Name or alias of the agent. Needed unless `resume` is there. */
  agent?: string;
  /** What the child is asked to do. */
  task?: string;
  /** Go on with a child: its run id, or the newest run of a key of an ended workflow. Excludes `agent`, needs `task`. */
  resume?: string | { workflowRunId: string; key: string; latest: true };
  /** Which child of the resumed run, from 0. */
  index?: number;
  /** Shown in lists in place of the key. */
  label?: string;
  phase?: string;
  /** Name of the output in the graph of lanes. */
  as?: string;
  /** `fresh`: an empty conversation; `fork`: a copy of the starter's. */
  context?: 'fresh' | 'fork' | 'profile';
  /** `provider/id`, with `:level` for thinking. */
  model?: string;
  fast?: boolean;
  skill?: string | string[] | boolean;
  /** Folder the child works in. */
  cwd?: string;
  /** File the answer is also written to; `false`: none, `true`: the agent's own. */
  output?: string | boolean;
  /** `file-only`: the result holds the path in place of the answer. */
  outputMode?: 'inline' | 'file-only';
  /** JSON schema of an object; the answer is then also in `structuredOutput`. */
  outputSchema?: object;
  /** How the answer is accepted; `false`: as it is. */
  acceptance?: string | false | object;
  /** A command that must succeed before the answer counts. Excludes `acceptance`. */
  gate?: string;
  agentContract?: { version: 1 };
  /** Whether the child gets a git worktree of its own. */
  worktree?: boolean;
  /** Branch, tag or `HEAD` that the worktree starts from. */
  baseRef?: string;
  lane?: {
    version: 1;
    key: string;
    mode?: 'mutation' | 'review' | 'scout' | 'gate';
    sourceRef?: string;
    claims?: string[];
    outputPaths?: string[];
  };
  /** `true`: a run of its own that the workflow does not wait for. */
  async?: boolean;
  /** Milliseconds after which the child is ended. */
  timeoutMs?: number;
  maxRuntimeMs?: number;
  /** Milliseconds one call of a tool may take. */
  toolTimeoutMs?: number;
  toolBudget?: { soft?: number; hard: number; block?: '*' | string[] };
  control?: object;
  extensionBindings?: object;
  [field: string]: unknown;
}

/** What a child handed back. As text (`${result}`) it is its output. */
interface PiLanesResult {
  key: string;
  /** Whether the child did what it was asked. Failed children reject in `runs.run`, and stand here in `runs.all`. */
  ok: boolean;
  /** The child's last words. */
  output: string;
  /** Files that belong to the run. */
  artifactPaths: string[];
  runId?: string;
  /** Why `ok` is false. */
  error?: string;
  agent?: string;
  /** What the child answered by `outputSchema`. */
  // biome-ignore lint/suspicious/noExplicitAny: its shape is what the script asked for
  structuredOutput?: any;
  stopped?: true;
  interrupted?: true;
  /** The file the answer was saved to. */
  outputReference?: string;
  outputPathMapping?: { requestedPath: string; savedPath: string };
  terminalOutcome?: { state: 'partial'; reason: 'timeout' | 'budget_exhausted' };
  resumability?: { state: 'resumable' } | { state: 'not-resumable'; reason: string };
  continuation?: { runIds: string[] };
}

interface PiLanesHostStep {
  kind: 'command';
  /** Shell command, run in the folder of the workflow. */
  command: string;
  /** Milliseconds after which the command is ended: 1 to 86400000. */
  timeoutMs: number;
  /** Relative path of the file that gets the whole output. */
  output?: string;
  role?: 'ci' | 'gate';
  provider?: string;
}

interface PiLanesHostResult {
  key: string;
  kind: 'command';
  ok: true;
  state: 'passed';
  exitCode: 0;
  stdout: string;
  stderr: string;
  outputPath: string;
  durationMs: number;
}

interface PiLanesLane {
  key: string;
  /** 1 to 16 stages, one after the other. `resume: "previous"` goes on with the child of the stage before. */
  stages: ({ key: string; resume?: 'previous' } & Omit<PiLanesLaunch, 'resume'>)[];
}

interface PiLanesLaneResult {
  key: string;
  state: 'complete' | 'blocked';
  /** Key of the stage that did not complete. */
  failedStage?: string;
  stages: {
    key: string;
    state: 'completed' | 'blocked' | 'failed' | 'stopped' | 'detached' | 'skipped';
    ok?: boolean;
    runId?: string;
    outputReference?: string;
    verdict?: string;
    error?: string;
  }[];
}

interface PiLanesSteerReceipt {
  key: string;
  state: 'delivered' | 'queued' | 'missed' | 'failed';
  requestId?: string;
  deliveryStatus?: string;
  error?: string;
}

/** Launches children and talks to them. */
declare const runs: {
  /**
   * Launches one child and waits for its result. Rejects when the child fails. The same key with the same parameters is the same
   * child: it is not launched again.
   * @param key name of the child in this workflow: 1 to 128 of `A–Z a–z 0–9 . _ -`, beginning with a letter or digit
   */
  run(key: string, launch: PiLanesLaunch): Promise<PiLanesResult>;
  /**
   * Launches children at once, all or none, and waits for all of them.
   * @returns their results in the order of the items, failed ones with `ok: false`. An array, no map of keys
   */
  all(items: readonly (({ key: string } & PiLanesLaunch) | Promise<PiLanesResult>)[]): Promise<PiLanesResult[]>;
  /** Runs lanes beside each other, each a row of stages. A stage that does not complete ends its lane, and no other. */
  lanes(lanes: readonly PiLanesLane[]): Promise<PiLanesLaneResult[]>;
  /** Runs a shell command on this machine, once somebody has agreed. Rejects when it does not exit with 0. */
  host(key: string, step: PiLanesHostStep): Promise<PiLanesHostResult>;
  /** Says something to a child that was launched before. */
  steer(
    key: string,
    message: string,
    options?: { mode?: 'steer' | 'follow_up' | 'auto'; index?: number; ackTimeoutMs?: number },
  ): Promise<PiLanesSteerReceipt>;
  /** Asks for the state of a child, by its key or run id. */
  status(keyOrRunId: string): Promise<PiLanesResult>;
  /** A short reference to a result, for the task of another child. */
  ref(result: PiLanesResult): string;
  /** References to results, one a line. */
  refs(results: readonly PiLanesResult[]): string;
};

/** Publishes a JSON value at once, while the workflow goes on. */
declare function emit(value: PiLanesJson): void;

/** Values that outlive the script. */
declare const state: {
  get(key: string): Promise<PiLanesJson | undefined>;
  set(key: string, value: PiLanesJson): Promise<void>;
};

/** The arguments that the workflow was started with, `undefined` without any. Only the script knows their shape, as with all JSON. */
declare const args: ReturnType<typeof JSON.parse>;
