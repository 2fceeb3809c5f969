/**
 * Resume, as a person means it: a lost run is continued as the same run; an ended one gets a new run on its session, with the
 * launch contract of the old. One decision for every client.
 */
import { stat, utimes } from 'node:fs/promises';
import { readJournal } from '../core/journal/index.ts';
import { isAbove, isThinkingLevel } from '../core/models/index.ts';
import { checkOutput } from '../core/outputs/index.ts';
import { runLayout } from '../core/projects/index.ts';
import {
  childNames,
  newRunId,
  RunReader,
  readChildPlan,
  readLaunchRecord,
  sessionName,
  taskTitle,
} from '../core/runs/index.ts';
import { foreignWriter, readSessionFile, sessionHolder } from '../core/sessions/index.ts';
import {
  type ChildView,
  isTerminal,
  type LaunchRecord,
  lanesError,
  type Owner,
  type RunState,
  type RunView,
  type SingleRecord,
} from '../protocol/index.ts';
import { continueWorkflow, mayContinue, notEnded } from './continue-workflow.ts';
import { type Launched, startRun } from './launch.ts';
import { checkTask, DEFAULT_TIMEOUT_MS, type LaunchPlan } from './plan.ts';
import { projectOf, recoverRun } from './recover.ts';
import { deriveState } from './run-snapshot.ts';
import { ensureRuntime } from './runtime.ts';
import type { Toolbox } from './toolbox.ts';

export interface ResumeRequest {
  directory: string;
  /** Of a workflow: number of the child whose session the new run goes on with. Its script is not told. */
  child?: number;
  /** What to say to the child now. Absent: it is asked to go on. */
  task?: string;
  owner: Owner;
  /** On a copy of the session. Needed when it is in use, or its folder is gone. */
  fork?: boolean;
  /** Folder of the fork; only with `fork`. */
  cwd?: string;
  trust?: LaunchRecord['trust'];
}

export type Resumed = { kind: 'continued'; runId: string; directory: string } | ({ kind: 'resumed' } & Launched);

export const GO_ON = 'Go on with your task from where you stopped.';

/** Which of the two `resumeRun` would do. Throws `resume_refused` with the exact reason when neither is possible. */
export async function resumeKind(directory: string): Promise<'continue' | 'resume'> {
  const { view } = await RunReader.open(directory);
  const state = await deriveState(directory, view);
  if (state === 'lost') return 'continue';
  if (!isTerminal(state)) throw notEnded(state);
  if (mayContinue(view)) return 'continue';
  if (view.mode === 'workflow') throw lanesError('resume_refused:final', { state });
  if (state === 'rejected') throw lanesError('resume_refused:rejected');
  if (!isResumable(state, view)) throw lanesError('resume_refused:stopped');
  return 'resume';
}

/**
 * Whether there is anything to go on with, as far as the state tells. A person's stop is for good; what the system or another
 * program ended (out of memory, a crash of Pi) nobody has decided to give up. A workflow has no session of its own: it goes on
 * where it was cut off or a limit has ended it.
 */
export function isResumable(state: RunState, view: RunView | null): boolean {
  if (view?.mode === 'workflow') return state === 'lost' || mayContinue(view);
  if (state === 'stopped') return view?.stopRequested === false;
  return state === 'lost' || (isTerminal(state) && state !== 'rejected');
}

export async function resumeRun(toolbox: Toolbox, request: ResumeRequest): Promise<Resumed> {
  const { directory, owner } = request;
  if (request.child !== undefined) {
    const { mode } = await readLaunchRecord(directory);
    if (mode === 'workflow')
      return { kind: 'resumed', ...(await startRun(toolbox, await planResume(toolbox, request))) };
  }
  if ((await resumeKind(directory)) === 'continue') {
    await refuseForLost(request);
    const { runId, mode } = await readLaunchRecord(directory);
    if (mode === 'workflow') await continueWorkflow(toolbox, directory, owner);
    else await recoverRun(toolbox, directory, 'continue', owner);
    return { kind: 'continued', runId, directory };
  }
  return { kind: 'resumed', ...(await startRun(toolbox, await planResume(toolbox, request))) };
}

/** A lost run goes on as it was launched: what a person asks for beside that would be lost, and its folder must be there. */
async function refuseForLost({ directory, task, fork, cwd }: ResumeRequest): Promise<void> {
  if (task !== undefined || fork || cwd !== undefined) throw lanesError('resume_refused:lost');
  const record = await readLaunchRecord(directory);
  if (!(await stat(record.cwd).catch(() => undefined))?.isDirectory())
    throw lanesError('cwd_gone:lost', { folder: record.cwd });
}

/** A new run on the session of an ended one. Everything that can be refused is refused here. */
export async function planResume(toolbox: Toolbox, request: ResumeRequest): Promise<LaunchPlan<SingleRecord>> {
  checkTask(request.task ?? GO_ON);
  const { source, child } = await sourceOf(request);
  const session = child?.session?.file;
  if (child && (await hasNotBegun(child))) return planAnew(toolbox, request, source);
  if (!session) throw lanesError('resume_refused:no-session');
  // From now on the old run is not too old: a cleaner that is about to remove it sees it, or has put it away already.
  await touch(session);
  const file = await readSessionFile(session);
  if (file.state !== 'ok') throw lanesError('resume_refused:session', { reason: file.reason });
  const how = request.fork ? 'fork' : 'continue';
  if (how === 'continue') {
    const holder = await sessionHolder(toolbox.root.sessionLocks, session);
    if (holder) throw holder;
    const writer = await foreignWriter(toolbox.root.sessionLocks, session, file.cwd);
    if (writer) throw writer;
  }
  // A continued session runs in the folder it was made in, whatever folder is named.
  const cwd = how === 'fork' ? (request.cwd ?? source.cwd) : file.cwd;
  if (!(await stat(cwd).catch(() => undefined))?.isDirectory()) {
    throw lanesError('cwd_gone', { folder: cwd });
  }
  const task = request.task ?? GO_ON;
  // What it was told at its beginning stands in its session.
  const { reads: _reads, progress: _progress, forkOf: _fork, ...contract } = source.child;
  return planNext(toolbox, request, source, {
    child: {
      ...contract,
      task,
      sessionName: sessionName(source.child.agent.name, source.child.label ?? taskTitle(source.child.task)),
    },
    cwd,
    resume: { sourceRunId: source.runId, sourceChild: child.index, session, how },
    ...placeOf(request, source, child),
  });
}

/** What is gone on with: the only child of a single run, or the named one of a workflow as if it had been a run of its own. */
async function sourceOf({ directory, child: index }: ResumeRequest) {
  const { record, view } = await RunReader.open(directory);
  if (record.mode === 'single') return { source: record, child: view.children[0] };
  const child = view.children.find((one) => one.index === index);
  if (index === undefined) throw lanesError('resume_refused:workflow');
  if (!child) throw lanesError('child_unknown', { name: String(index), known: childNames(view) || '-' });
  if (!isTerminal(child.state)) throw notEnded(child.state);
  if (child.state === 'stopped') throw lanesError('resume_refused:stopped');
  const { lines } = await readJournal(runLayout(directory).journal);
  const { plan, cwd, timeoutMs } = await readChildPlan(directory, lines, index);
  // Its output file is a result of the workflow.
  const { output: _output, ...contract } = plan;
  const { workflow: _workflow, ...common } = record;
  const source: SingleRecord = {
    ...common,
    mode: 'single',
    child: contract,
    cwd,
    timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
    lane: child.lane ?? null,
    ...(child.worktree ? { worktree: {} } : {}),
  };
  return { source, child };
}

/** Pi writes a session with the first answer: a run that was ended before that has none, and nothing was done. */
async function hasNotBegun({ turns, session }: ChildView): Promise<boolean> {
  if (turns > 0) return false;
  return !session?.file || (await readSessionFile(session.file)).state === 'missing';
}

/** A run that was ended before its agent had begun is begun again: with its own task, and what is said now behind it. */
async function planAnew(
  toolbox: Toolbox,
  request: ResumeRequest,
  source: SingleRecord,
): Promise<LaunchPlan<SingleRecord>> {
  const cwd = request.cwd ?? source.cwd;
  if (!(await stat(cwd).catch(() => undefined))?.isDirectory()) throw lanesError('cwd_gone', { folder: cwd });
  const task = request.task === undefined ? source.child.task : `${source.child.task}\n\n${request.task}`;
  checkTask(task);
  const child = { ...source.child, task };
  const { worktree, worktreeOf } = request.cwd === undefined ? source : {};
  return planNext(toolbox, request, source, { child, cwd, resume: source.resume, worktree, worktreeOf });
}

/**
 * A session that is continued goes on in its worktree. One that is copied gets another one, made from where the first was, unless a
 * folder is named for it.
 */
function placeOf(
  { fork, cwd }: ResumeRequest,
  source: SingleRecord,
  { index, worktree }: ChildView,
): Pick<SingleRecord, 'worktree' | 'worktreeOf'> {
  if (!worktree || worktree.state === 'undone' || cwd !== undefined)
    return { worktree: undefined, worktreeOf: undefined };
  if (!fork) return { worktree: undefined, worktreeOf: { runId: source.runId, child: index } };
  const { worktreeOf } = source;
  return worktreeOf ? { worktree: undefined, worktreeOf } : { worktree: source.worktree ?? {}, worktreeOf: undefined };
}

/** The next run: the contract of the old one, with what is different now. */
async function planNext(
  toolbox: Toolbox,
  request: ResumeRequest,
  source: SingleRecord,
  next: Pick<SingleRecord, 'child' | 'cwd' | 'resume' | 'worktree' | 'worktreeOf'>,
): Promise<LaunchPlan<SingleRecord>> {
  const project = projectOf(request.directory);
  await checkLevel(toolbox, next, request.trust ?? source.trust);
  if (source.child.output) await checkOutput(toolbox.root.claims, source.child.output.path);
  const [tools, runtime] = await Promise.all([toolbox.tools(), ensureRuntime(toolbox.distDirectory, toolbox.root)]);
  const record: SingleRecord = {
    ...source,
    ...next,
    runId: newRunId(),
    createdAt: Date.now(),
    owner: request.owner,
    trust: request.trust ?? source.trust,
    runtime: runtime.hash,
    client: toolbox.client,
    node: tools.node.file,
    pi: tools.installation,
  };
  return { record, project, runtime, electron: tools.node.electron };
}

/** A bound that was set since then holds for what goes on, too. */
async function checkLevel(
  toolbox: Toolbox,
  { child, cwd }: Pick<SingleRecord, 'child' | 'cwd'>,
  trust: LaunchRecord['trust'],
): Promise<void> {
  const { maxThinking: max } = (await toolbox.launchSettings(cwd, trust)).defaults;
  const { model, thinking: level } = child;
  if (max !== undefined && isThinkingLevel(level) && isAbove(level, max))
    throw lanesError('thinking_too_high', { level, name: model ?? 'default', max });
}

/** What cannot be touched is told by whoever reads it next. */
async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined);
}
