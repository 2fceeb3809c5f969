/**
 * The language of the fake Pi. A task holds `FAKE:{…}` anywhere in its text (one JSON object); see `FakeTask`. A message
 * without it is answered with `You said: …`. How a process starts is said by a `FakeLaunchPlan`, in the environment
 * variable `PI_LANES_FAKE_PLAN` or with `planLaunches`. An unknown key is an error, never skipped.
 *
 * Texts may hold `{{prompt}}` (the message without its plan), `{{answer}}` and `{{answers}}` (of dialogs), `{{steers}}`
 * (queued messages that were delivered), `{{env}}` (names of all environment variables), `{{env:NAME}}`, `{{args}}`,
 * `{{cwd}}`, `{{pid}}`, `{{grandchild}}` (pid), `{{launch}}` and `{{attempt}}` (from 1), `{{users}}` (user messages in the
 * session), `{{session}}` (its file), `{{model}}`, `{{thinking}}`, `{{system}}` (the system prompt given) and `{{version}}`.
 */

/** What the processes of a run, and of the tests, say and do. */
export interface FakeTask extends FakeHooks {
  /** Before the prompt is answered. Only here: `refuse` and `handled`. */
  accepting?: FakeStep[];
  /** After the answer, before `agent_start`. */
  accepted?: FakeStep[];
  /** The work itself. Absent: one echo of the prompt. `[]`: no message at all. */
  steps?: (FakeStep | FakeTurn)[];
  /** Between `agent_end` and `agent_settled`. */
  ended?: FakeStep[];
  /** After `agent_settled`, when the session is idle. */
  settled?: FakeStep[];
  /** The closing `agent_end`: its `willRetry`, its length in bytes; `false` leaves it out. */
  agentEnd?: { willRetry?: boolean; bytes?: number } | false;
  /** Messages that are queued stay queued. */
  keepQueue?: boolean;
  /** Picks by how often this plan was begun, in any process; laid over the rest of the plan. The last one stays. */
  attempts?: FakeTask[];
  /** Name of the counter of `attempts`; tasks with the same plan share one otherwise. */
  key?: string;
}

/** One way to start, or rules of which the first that fits decides. */
export type FakeLaunchPlan = FakeLaunchRule | FakeLaunchRule[];

export interface FakeLaunchRule extends FakeStart {
  /** `child` (default): has a session. `probe`: `--no-session`. `query`: `--version`, `--list-models`. */
  for?: FakeLaunch['kind'] | 'any';
  /** Regular expression on the command line, the arguments joined with spaces. */
  match?: string;
  /** Picks by how often this rule has decided, in any process; laid over the rest of the rule. The last one stays. */
  launches?: FakeStart[];
}

export interface FakeStart extends FakeHooks {
  /** Before any command is looked at, the first `get_state` included. Dialogs are answered here already. */
  start?: FakeStep[];
  /** After the first answer to `get_state`. */
  ready?: FakeStep[];
  /** Laid over the answer to `get_state`. */
  state?: Record<string, unknown>;
  /** Usable models as `provider/id`, the first one is the default. Absent: `fake/scripted`, `fake/scripted-b`. */
  models?: string[];
  /** The plan of a prompt that brings none. */
  task?: FakeTask;
  /** A prompt that brings none is answered by the newest plan in the session, as if the work went on. */
  remembers?: true;
}

/** May stand in a launch plan and in a task; the task's wins from its prompt on. */
export interface FakeHooks {
  /** When stdin is closed, before the usual exit with 0. */
  onStdinClose?: FakeStep[];
  /** At the first SIGTERM or SIGHUP, before the usual exit with 143 or 129; a second one does not wait for them. */
  onSigterm?: FakeStep[];
  /** So many SIGTERM, SIGHUP and SIGINT do nothing. `all`: only SIGKILL ends it. */
  ignoreSignals?: number | 'all';
  /** Other answers to commands, by name: none, late, an error, or this data. */
  commands?: Record<string, { silent?: true; delayMs?: number; error?: string; data?: unknown }>;
  /** The session file begins without its header line. */
  session?: 'headerless';
}

/** One message of the model, streamed in this order: thinking, text, tool calls. Then the tools run, all at once. */
export interface FakeTurn {
  thinking?: FakeText;
  say?: FakeText;
  tools?: FakeTool[];
  /** The provider's error: the message ends with `stopReason: "error"`. */
  error?: string;
  /** After an error: `agent_end` with `willRetry`, `auto_retry_start`, a wait (20 ms), and the next turn is the retry. */
  retry?: true | { delayMs?: number; maxAttempts?: number };
  /** `stopReason`; absent: `stop`, `toolUse` or `error`, whichever fits. */
  stop?: 'stop' | 'length' | 'toolUse' | 'error' | 'aborted';
  /** Tokens, and `cost` in dollars. Absent ones: 100 in, 10 out, 0.00012 dollars. */
  usage?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number; cost?: number };
  /** Milliseconds after each delta. */
  tokenMs?: number;
}

/**
 * A text is streamed word by word. A list is streamed as it is: each string one delta, `fill` so many bytes of ASCII in
 * deltas of `deltaBytes` (64 KiB), `think` a block of thinking between; steps run in the middle of the message.
 */
export type FakeText = string | (string | { fill: number; deltaBytes?: number } | { think: FakeText } | FakeStep)[];

export interface FakeTool {
  /** Default `bash`. */
  name?: string;
  args?: Record<string, unknown>;
  /** Partial results, one update each. */
  updates?: string[];
  /** Steps while the tool runs. */
  during?: FakeStep[];
  /** Milliseconds it takes after them. */
  ms?: number;
  output?: string;
  isError?: boolean;
}

export type FakeStep =
  | { wait: number }
  /**
   * `true`: does nothing more; answers commands, an abort ends it. `stuck`: as Pi with a tool that ignores its abort:
   * `abort` stays unanswered, a closed stdin and the first SIGTERM do not end it, the second does. `deaf`: reads nothing
   * more, so no command is answered and the end of stdin is not seen. `frozen`: blocks; only SIGKILL ends it.
   */
  | { hang: true | 'stuck' | 'deaf' | 'frozen' }
  | { exit: number; stderr?: string }
  /** Dies by this signal, sent to itself. */
  | { kill: NodeJS.Signals }
  /** Milliseconds of processor time, spent at once. */
  | { cpu: number }
  /** Any record; `newline: false` leaves the line open. */
  | { emit: object; newline?: false }
  /** A line that is no JSON. */
  | { line: string }
  /** Text as it is, without a newline. */
  | { raw: string }
  /** Bytes as they are, in hexadecimal. */
  | { hex: string }
  | { stderr: string }
  /** So many MiB as fast as they are read, in lines of `lineBytes` (1,000). `lines` are no JSON; `unknown` are records. */
  | { flood: 'deltas' | 'events' | 'unknown' | 'lines' | 'stderr'; mb?: number; lineBytes?: number }
  /** One line of exactly so many bytes: a record of this type, or (`line`) no record. */
  | {
      big: 'message_end' | 'turn_end' | 'agent_end' | 'tool_execution_end' | 'deltas' | 'unknown' | 'line';
      bytes: number;
      willRetry?: boolean;
    }
  /** From here on stdout is written in pieces of so many bytes, or each write is cut at these offsets; 0: whole again. */
  | { split: number | number[]; gapMs?: number }
  /** A process that sleeps, keeps these pipes open, and ends by itself after `seconds` (300). */
  | {
      grandchild: 'none' | 'stdout' | 'stderr' | 'both';
      ownSession?: boolean;
      ignoreTerm?: boolean;
      seconds?: number;
      /** It inherits no environment, so no marker either. */
      bareEnvironment?: boolean;
    }
  /** Asks and waits for the answer. An abort does not end the wait, as in Pi; `timeout` (ms) does. */
  | {
      dialog: 'select' | 'confirm' | 'input' | 'editor';
      title?: string;
      message?: string;
      options?: string[];
      placeholder?: string;
      prefill?: string;
      timeout?: number;
    }
  /** Waits until the test opens it; see `FakePi.arrivedAt` and `FakePi.open`. */
  | { gate: string }
  /** Waits until such a message is queued. */
  | { await: 'steering' | 'followUp' | 'any' }
  /** Removes its session file. `recreate`: what is said later begins a new one without header, as Pi does. */
  | { deleteSession: true | 'recreate' }
  /** Writes a file, relative to the working folder. */
  | { write: string; text?: string }
  | {
      compaction: 'manual' | 'threshold' | 'overflow';
      summary?: string;
      /** Steps between its start and its end. */
      during?: FakeStep[];
      failure?: string;
      aborted?: true;
    }
  /** One more `agent_end`, at this place. */
  | { agentEnd: { willRetry?: boolean; bytes?: number } }
  /** Answers the prompt with this error. */
  | { refuse: string }
  /** Answers the prompt as an extension does that deals with it alone: nothing runs. */
  | { handled: true };

/** One start, as it was recorded. */
export interface FakeLaunch {
  /** From 1, per kind. */
  n: number;
  kind: 'child' | 'probe' | 'query';
  pid: number;
  args: string[];
  cwd: string;
  /** Names of its environment variables. */
  env: string[];
}
