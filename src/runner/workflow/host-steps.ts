/** Commands of a script on this machine: asked for, run with an end, and told as evidence. */
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { makePrivateFolder, readRegular } from '../../core/files/index.ts';
import { OutputClaim, realOutputPath } from '../../core/outputs/index.ts';
import {
  childEnvironment,
  childMarker,
  findTree,
  identify,
  killTree,
  MARKER_ENV,
  shellCommand,
  signalProcess,
  spawnPiped,
} from '../../core/processes/index.ts';
import { rootLayout } from '../../core/projects/index.ts';
import { AliveClock } from '../../core/time/index.ts';
import { redact } from '../../core/transcripts/index.ts';
import {
  type AskedCommand,
  cutText,
  describeError,
  type ErrorValue,
  HOST_STATES,
  type HostStepView,
  type ProcessIdentity,
  type QuestionAnswer,
  type RunView,
  toErrorValue,
  type WorkflowRecord,
} from '../../protocol/index.ts';
import type { OpenRun } from '../open-run.ts';
import { Questions } from '../questions.ts';
import { BoundedText } from './bounded-text.ts';
import { type HostOutput, hostOutput, writeHostOutput } from './host-output.ts';
import { refuseSharedOutput } from './shared-output.ts';

/** Bytes that a script is told of each stream, and that are kept of both. */
const PREVIEW_BYTES = 4096;
const LOG_BYTES = 1024 * 1024;
const SHOWN_CHARS = 1000;
/** Bytes of JSON that a command may take in the question whether it may run: lines of the journal have less than 64 KiB. */
const ASKED_BYTES = 40 * 1024;
const ASKED_CHARS = 4000;
/** Milliseconds a command has to end by itself, and its processes after that. */
const TERM_MS = 1000;
const KILL_MS = 2000;
/** Milliseconds a person has to say whether a command may run. */
const CONSENT_MS = 24 * 60 * 60 * 1000;

/** A command as a script asks for it. `again`: an earlier runner had been asked for it. */
export interface HostCall {
  id: number;
  key: string;
  params: Readonly<Record<string, unknown>>;
  again: boolean;
}

type HostState = HostStepView['state'];

/** What the script is told, and what a continuation is told again. */
export interface HostResult {
  ok: boolean;
  state: HostState;
  exitCode: number | null;
  stdout: string;
  stderr: string;
  outputPath?: string;
  durationMs: number;
  error?: string;
}

export class HostSteps {
  readonly #run: OpenRun;
  readonly #record: WorkflowRecord;
  readonly #questions: Questions;
  readonly #waiting = new Map<string, (isAllowed: boolean) => void>();
  readonly #living = new Map<number, ProcessIdentity>();

  constructor(run: OpenRun, record: WorkflowRecord) {
    this.#run = run;
    this.#record = record;
    this.#questions = new Questions(run, null, CONSENT_MS);
  }

  get questions(): Questions {
    return this.#questions;
  }

  /** Never rejects for what the command does; rejects when nothing could be said about it any more. */
  async execute({ id, key, params, again }: HostCall, ended: AbortSignal): Promise<HostResult> {
    if (again) {
      const known = await this.#known(id);
      if (known) return known;
    }
    const command = String(params['command']).trim();
    const role = typeof params['role'] === 'string' ? params['role'] : null;
    const timeoutMs = Number(params['timeoutMs']);
    if (!(await this.#mayRun({ id, key, command, role }, ended))) return denied(ended.aborted);
    const { cwd } = this.#record;
    const { artifacts } = this.#run.layout;
    let target: HostOutput;
    let claim: OutputClaim | undefined;
    try {
      const output = typeof params['output'] === 'string' ? params['output'] : undefined;
      target = await hostOutput(output, { cwd, artifacts, key });
      if (output !== undefined) {
        const { claims } = rootLayout(this.#record.agentDir);
        refuseSharedOutput(this.#run.view, key, await realOutputPath(target.path));
        claim = await OutputClaim.take(claims, target.path, `the command ${key} of run ${this.#record.runId}`);
      }
    } catch (error) {
      return { ...NOTHING, state: 'failed', error: toErrorValue(error).message };
    }
    try {
      const shown = cutText(redact(command), SHOWN_CHARS);
      await this.#run.append({ type: 'host.intended', id, key, command: shown, role, timeoutMs });
      const result = await this.#perform(id, command, timeoutMs, target, ended);
      await this.#end(id, result);
      return result;
    } finally {
      await claim?.release().catch(() => undefined);
    }
  }

  /** What an earlier runner came to. A command that was under way is never run again by itself: nobody knows what it did. */
  async #known(id: number): Promise<HostResult | undefined> {
    const view = this.#run.view.workflow?.hosts.find((host) => host.id === id);
    // Nobody had allowed it: it is asked again.
    if (!view || view.state === 'asking' || view.state === 'denied') return undefined;
    const evidence = await readEvidence(this.#file(id));
    if (view.state !== 'running') return evidence?.state === view.state ? evidence : withoutEvidence(view);
    const result = evidence ?? OUTCOME_UNKNOWN;
    await this.#end(id, result);
    return result;
  }

  async #mayRun({ id, key, command, role }: AskedCommand, ended: AbortSignal): Promise<boolean> {
    const { grants, host } = this.#record.workflow;
    const { mode, globs } = host;
    if (grants && !grants.some((grant) => grant.key === key && grant.command === command)) return false;
    if (mode === 'allow' || globs.some((glob) => matches(glob, command))) return !ended.aborted;
    if (mode === 'deny' || ended.aborted) return false;
    const questionId = `host-${id}-${this.#run.epoch}`;
    const answered = new Promise<boolean>((resolve) => this.#waiting.set(questionId, resolve));
    const onEnded = () => this.#waiting.get(questionId)?.(false);
    ended.addEventListener('abort', onEnded, { once: true });
    const asker = { answer: (_: string, answer: QuestionAnswer) => this.#waiting.get(questionId)?.(isYes(answer)) };
    const question = {
      id: questionId,
      method: 'confirm',
      title: `Run this command in ${this.#record.cwd}?`,
      message: `${command}\n\n(${key} of the workflow ${this.#record.workflow.name})`,
      options: [],
    };
    await this.#questions.ask(asker, question, { id, key, command: askedText(command), role });
    try {
      return await answered;
    } finally {
      ended.removeEventListener('abort', onEnded);
      this.#waiting.delete(questionId);
    }
  }

  async #perform(
    id: number,
    command: string,
    timeoutMs: number,
    target: HostOutput,
    ended: AbortSignal,
  ): Promise<HostResult> {
    const marker = childMarker(this.#record.runId, `host-${id}`);
    const from = performance.now();
    const env = { ...childEnvironment(process.env), [MARKER_ENV]: marker };
    const child = spawnPiped(shellCommand(command), { cwd: this.#record.cwd, env });
    const failed = once(child, 'error').then(([error]: unknown[]) => toErrorValue(error).message);
    if (child.pid === undefined) return { ...NOTHING, state: 'failed', error: await failed };
    const closed = once(child, 'close').then(([exitCode]: unknown[]) =>
      typeof exitCode === 'number' ? exitCode : null,
    );
    child.stdin.on('error', () => undefined);
    child.stdin.end();
    const [stdout, stderr, log] = [PREVIEW_BYTES, PREVIEW_BYTES, LOG_BYTES].map((limit) => new BoundedText(limit));
    for (const [stream, text] of [
      [child.stdout, stdout],
      [child.stderr, stderr],
    ] as const) {
      stream.on('data', (chunk: Buffer) => {
        text?.add(chunk);
        log?.add(chunk);
      });
      stream.on('error', () => undefined);
    }
    const root = await identify(child.pid);
    this.#living.set(id, root);
    await this.#run.append({ type: 'host.started', id, process: root });
    const how = await this.#wait(closed, timeoutMs, ended);
    const tree = await this.#endTree(root, marker, how !== 'closed');
    const exitCode = await Promise.race([closed, delay(KILL_MS, null)]);
    child.stdout.destroy();
    child.stderr.destroy();
    this.#living.delete(id);
    const state = how === 'closed' ? (exitCode === 0 ? 'passed' : 'failed') : how;
    const result: HostResult = {
      ok: state === 'passed',
      state,
      exitCode,
      stdout: stdout?.text ?? '',
      stderr: stderr?.text ?? '',
      durationMs: Math.round(performance.now() - from),
      ...(state === 'failed' && exitCode === null ? { error: 'it was ended by a signal' } : {}),
      ...(state === 'timed-out' ? { error: `it timed out after ${timeoutMs} ms` } : {}),
    };
    if (tree === 'unknown')
      result.error = `${result.error ?? `exit code ${exitCode}`}; not all of its processes are proven gone`;
    try {
      await writeHostOutput(target, log?.text ?? '');
      return { ...result, outputPath: target.path };
    } catch (error) {
      return { ...result, ok: false, state: 'failed', error: toErrorValue(error).message };
    }
  }

  async #wait(
    closed: Promise<unknown>,
    timeoutMs: number,
    ended: AbortSignal,
  ): Promise<'closed' | 'timed-out' | 'stopped'> {
    const clock = new AliveClock();
    const over = Promise.withResolvers<'timed-out' | 'stopped'>();
    clock.after(timeoutMs, () => over.resolve('timed-out'));
    const onEnded = () => over.resolve('stopped');
    if (ended.aborted) onEnded();
    ended.addEventListener('abort', onEnded, { once: true });
    try {
      return await Promise.race([closed.then(() => 'closed' as const), over.promise]);
    } finally {
      clock.dispose();
      ended.removeEventListener('abort', onEnded);
    }
  }

  /** Ends what a command left: politely first when it was still at work. */
  async #endTree(root: ProcessIdentity, marker: string, isAtWork: boolean): Promise<'gone' | 'unknown'> {
    const known = await findTree(root, marker);
    if (isAtWork) {
      for (const member of known) await signalProcess(member, 'SIGTERM', { group: true });
      const deadline = performance.now() + TERM_MS;
      while (performance.now() < deadline && (await findTree(root, marker)).length > 0) await delay(25);
    }
    return killTree(root, marker, { deadlineMs: KILL_MS, known });
  }

  /** Evidence first, then the word that there is some. */
  async #end(id: number, result: HostResult): Promise<void> {
    await makePrivateFolder(join(this.#run.layout.artifacts, 'host'));
    await this.#run.store(this.#file(id), `${JSON.stringify(result)}\n`);
    const { state, exitCode, durationMs, outputPath = null, error } = result;
    await this.#run.append({
      type: 'host.ended',
      id,
      state,
      exitCode,
      outputPath,
      durationMs,
      error: error === undefined ? null : failure(error),
    });
  }

  #file(id: number): string {
    return join(this.#run.layout.artifacts, 'host', `${id}.json`);
  }

  /** Kills what commands of a runner that is gone have left. Returns how many processes there were. */
  async endLeftovers({ workflow }: RunView): Promise<number> {
    let count = 0;
    for (const { id, state } of workflow?.hosts ?? []) {
      if (state !== 'running') continue;
      const marker = childMarker(this.#record.runId, `host-${id}`);
      const line = this.#run.earlier.findLast((one) => one.type === 'host.started' && one.id === id);
      const root = line?.type === 'host.started' ? line.process : { pid: 0, start: null };
      const known = await findTree(root, marker);
      count += known.length;
      await killTree(root, marker, { deadlineMs: KILL_MS, known });
    }
    return count;
  }

  /** Ends what is left, without another word in the journal. */
  async endLiving(): Promise<void> {
    await Promise.all(
      [...this.#living].map(([id, root]) =>
        killTree(root, childMarker(this.#record.runId, `host-${id}`), { deadlineMs: KILL_MS }),
      ),
    );
  }
}

const NOTHING: HostResult = { ok: false, state: 'failed', exitCode: null, stdout: '', stderr: '', durationMs: 0 };

function denied(isOver: boolean): HostResult {
  return isOver
    ? { ...NOTHING, state: 'stopped', error: 'the workflow ended before it was allowed' }
    : { ...NOTHING, state: 'denied', error: 'it was not allowed to run on this machine' };
}

const OUTCOME_UNKNOWN: HostResult = { ...NOTHING, state: 'unknown', error: 'interrupted: outcome unknown' };

const hostResult = z.object({
  ok: z.boolean(),
  state: z.enum(HOST_STATES),
  exitCode: z.nullable(z.number()),
  stdout: z.string(),
  stderr: z.string(),
  outputPath: z.optional(z.string()),
  durationMs: z.number(),
  error: z.optional(z.string()),
});

/** `undefined`: there is none that can be read. */
async function readEvidence(path: string): Promise<HostResult | undefined> {
  try {
    const { outputPath, error, ...result } = hostResult.parse(JSON.parse(await readRegular(path)));
    return {
      ...result,
      ...(outputPath === undefined ? {} : { outputPath }),
      ...(error === undefined ? {} : { error }),
    };
  } catch {
    return undefined;
  }
}

/** How it ended stands in the journal; what it printed is gone, and nobody must take that for silence. */
function withoutEvidence({ state, exitCode, outputPath, startedAt, endedAt }: HostStepView): HostResult {
  return {
    ...NOTHING,
    state,
    exitCode,
    ...(outputPath === null ? {} : { outputPath }),
    durationMs: startedAt === null || endedAt === null ? 0 : endedAt - startedAt,
    error: `it had ${state}, but the record of what it printed cannot be read any more`,
  };
}

function failure(reason: string): ErrorValue {
  return describeError('host_failed', { reason: cutText(redact(reason), SHOWN_CHARS) });
}

/** The whole command: nobody can consent to what they do not see. One of mostly control characters says what is missing. */
function askedText(command: string): string {
  const text = redact(command);
  if (Buffer.byteLength(JSON.stringify(text)) <= ASKED_BYTES) return text;
  return `${cutText(text, ASKED_CHARS)}\n[… and ${text.length - ASKED_CHARS} more characters]`;
}

function isYes(answer: QuestionAnswer): boolean {
  return 'confirmed' in answer && answer.confirmed;
}

/** `*` stands for any characters, also none; everything else for itself. */
export function matches(glob: string, command: string): boolean {
  const parts = glob.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(command);
}
