/** The children of a workflow: each is planned, worked on and judged after a crash as the one child of a single run is. */
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChildDriver } from '../../core/children/index.ts';
import { readJournal } from '../../core/journal/index.ts';
import { promptOf } from '../../core/launch/index.ts';
import { realOutputPath } from '../../core/outputs/index.ts';
import { runLayout } from '../../core/projects/index.ts';
import { childAliveMs, parseChildRunId, RunReader, readChildPlanText } from '../../core/runs/index.ts';
import { AliveClock } from '../../core/time/index.ts';
import type { ChildView as ScriptView } from '../../core/workflow/index.ts';
import type { WorktreeSource } from '../../core/worktrees/index.ts';
import {
  type ChildView,
  childPlan,
  type ErrorValue,
  isTerminal,
  type JournalLine,
  lanesError,
  type RpcParams,
  type RpcResult,
  type WorkflowRecord,
} from '../../protocol/index.ts';
import { ChildDesk } from '../child-desk.ts';
import { beginningOf, decideChild, linesOf } from '../child-recovery.ts';
import type { ChildResult } from '../child-settling.ts';
import type { Beginning } from '../child-tools.ts';
import { workOnChild } from '../child-work.ts';
import { Deadlines } from '../deadlines.ts';
import type { OpenRun } from '../open-run.ts';
import { openWorktrees } from '../open-worktrees.ts';
import { timeoutOf } from '../recover.ts';
import { type EndReason, RunControl } from '../run-control.ts';
import type { Isolated, RunWorktrees } from '../run-worktrees.ts';
import { Steering } from '../steering.ts';
import { Workplace } from '../workplace.ts';
import type { AggregateOutput } from './aggregate-output.ts';
import { answerOf, readResult } from './child-answers.ts';
import {
  type Isolation,
  isolationIn,
  lookAroundChild,
  type PlannedChild,
  planChild,
  planResumed,
  type RetainedChild,
  titleOf,
} from './child-plans.ts';
import { refuseSharedOutput } from './shared-output.ts';

interface LiveChild {
  readonly index: number;
  readonly control: RunControl;
  readonly steering: Steering;
  readonly desk: ChildDesk;
  /** Resolves when its end is written down. */
  readonly over: Promise<ChildResult>;
}

/** A child on which work begins. */
interface Begun {
  index: number;
  key: string;
  planned: PlannedChild;
  /** What its worktree is made from; absent: that is looked at when it is made. */
  source?: WorktreeSource | undefined;
}

/** A launch of the script. `again`: an earlier runner had been asked for it. */
export interface Launch {
  /** Number of the call. */
  id: number;
  key: string;
  params: Record<string, unknown>;
  again: boolean;
}

/**
 * What a child is told that is at work when the usage budget of its workflow is used up. Nothing of the budget is left for what would
 * follow, so its work counts only as far as it is handed back now. Under 160 characters, so that the journal has all of it.
 */
export const WRAP_UP =
  'The usage budget of this workflow is used up. Finish the step you are at, start nothing new, and give back what you have.';

export class WorkflowChildren {
  readonly #run: OpenRun;
  readonly #record: WorkflowRecord;
  readonly #driver: ChildDriver;
  readonly #isStopped: () => boolean;
  readonly #aggregate: AggregateOutput | undefined;
  readonly #live = new Map<number, LiveChild>();
  /** Children that know that the budget is used up. */
  readonly #warned = new Set<number>();
  /** What the worktrees of launches are made from, by number of the call; rejected when one of a group cannot be made. */
  readonly #checked = new Map<number, Promise<ReadonlyMap<number, WorktreeSource>>>();
  #open: Promise<RunWorktrees> | undefined;
  #count: number;

  /**
   * @param isStopped whether somebody has stopped the whole workflow
   * @param aggregate the file of the whole workflow, which a child may write itself
   */
  constructor(
    run: OpenRun,
    record: WorkflowRecord,
    driver: ChildDriver,
    isStopped: () => boolean,
    aggregate?: AggregateOutput,
  ) {
    this.#isStopped = isStopped;
    this.#aggregate = aggregate;
    this.#run = run;
    this.#record = record;
    this.#driver = driver;
    this.#count = Math.max(0, ...run.view.children.map(({ index }) => index));
    for (const line of run.earlier)
      if (line.type === 'control.requested' && line.child !== undefined && line.preview === WRAP_UP)
        this.#warned.add(line.child);
  }

  /** Works on what the script launched, to its end. @throws LanesError when it cannot be started as asked */
  async launch({ id, key, params, again }: Launch, ended: AbortSignal): Promise<ScriptView> {
    // Of a launch that went on by itself there are several; the newest is the one that is under way.
    const known = again ? this.#run.view.children.findLast(({ call }) => call === id) : undefined;
    return known ? this.#goOn(known, key, params, ended) : this.#begin(id, key, params, ended);
  }

  /**
   * What the script has launched together: all worktrees of it are checked before anything of it starts, and what is wrong with one
   * of them is told to each that was to have one.
   */
  expect(launches: readonly Omit<Launch, 'again'>[]): void {
    const isolated = launches.flatMap(({ id, key, params }) => {
      const isolation = isolationOf(this.#record, params);
      return isolation ? [{ id, key, ...isolation }] : [];
    });
    if (isolated.length === 0) return;
    const checked = this.#check(isolated);
    // Told to those it is about.
    checked.catch(() => undefined);
    for (const { id } of launches) this.#checked.set(id, checked);
  }

  async #check(isolated: readonly (Isolated & { id: number })[]): Promise<ReadonlyMap<number, WorktreeSource>> {
    const there = await Promise.all(isolated.map(({ cwd }) => isFolder(cwd)));
    // A folder that is not there is a fault of its own.
    const group = isolated.filter((_, index) => there[index]);
    const sources = await (await this.#worktrees()).check(group);
    return new Map(group.flatMap(({ id }, index) => (sources[index] ? [[id, sources[index]]] : [])));
  }

  #worktrees(): Promise<RunWorktrees> {
    this.#open ??= openWorktrees(this.#run);
    return this.#open;
  }

  async #begin(id: number, key: string, params: Record<string, unknown>, ended: AbortSignal): Promise<ScriptView> {
    const run = this.#run;
    // Taken at once: children are numbered in the order in which the script asked for them.
    this.#count += 1;
    const index = this.#count;
    const checked = this.#checked.get(id);
    await checked?.catch(() => undefined);
    const planned = await this.#plan(key, params);
    if (!(await isFolder(planned.cwd))) throw lanesError('cwd_missing', { folder: planned.cwd });
    const source = planned.worktree && (await checked)?.get(id);
    this.#checked.delete(id);
    if (planned.plan.output) refuseSharedOutput(run.view, key, await realOutputPath(planned.plan.output.path));
    const layout = await run.childFolder(index);
    const { plan, cwd, lane, phase } = planned;
    const stored = await run.store(layout.plan, planBody(planned));
    await run.append({
      type: 'child.planned',
      child: index,
      id,
      key,
      agent: plan.agent.name,
      label: titleOf(plan),
      phase,
      lane,
      model: plan.model ?? null,
      cwd,
      plan: stored,
    });
    const first: Beginning = { kind: 'ask', session: planned.session, prompt: promptOf(plan) };
    return this.#work({ index, key, planned, source }, first, ended);
  }

  async #plan(key: string, params: Record<string, unknown>): Promise<PlannedChild> {
    const { outputs } = this.#run.layout;
    const { resume } = params;
    if (typeof resume !== 'string') {
      const facts = await lookAroundChild(this.#record, params, outputs);
      return planChild(this.#record, key, params, outputs, facts);
    }
    return planResumed(this.#record, key, await this.#retained(resume), params, outputs);
  }

  /** A child that was lost with its runner: judged by its session, and started at most once more. */
  async #goOn(known: ChildView, key: string, params: Record<string, unknown>, ended: AbortSignal): Promise<ScriptView> {
    const { index } = known;
    const planned = await this.#planned(known, key, params);
    const lines = linesOf(this.#run.earlier, index);
    const decision = await decideChild(this.#run, known, index, isCutOff(lines) ? withoutEnd(lines) : lines);
    if (decision.decision === 'finish') {
      const { state, error } = decision;
      if (known.worktree) await (await this.#worktrees()).capture(index);
      return answerOf(this.#run, { index, key, planned }, { state, error, ...(await readResult(this.#run, known)) });
    }
    const first: Beginning = { kind: 'ask', session: planned.session, prompt: promptOf(planned.plan) };
    const isOver = wishOf(lines) !== undefined;
    // What was asked to end is not gone on with, whatever stands in its session.
    return this.#work({ index, key, planned }, isOver ? first : beginningOf(decision, first), ended);
  }

  /** How it was planned. A plan that is not there any more as it was written follows from the script again. */
  async #planned({ index, call }: ChildView, key: string, params: Record<string, unknown>): Promise<PlannedChild> {
    const run = this.#run;
    try {
      return await readPlan(run.layout.directory, run.earlier, index);
    } catch (error) {
      // One that went on by itself was planned otherwise than the script had asked.
      if (run.view.children.filter((child) => child.call === call).length > 1) throw error;
      const planned = await this.#plan(key, params);
      await run.store((await run.childFolder(index)).plan, planBody(planned));
      return planned;
    }
  }

  /**
   * That the results which the script has not been told yet are there.
   * @param told numbers of the calls whose answers stand in the journal
   * @throws LanesError `run_unreadable` naming the file
   */
  async checkResults(told: ReadonlySet<number>): Promise<void> {
    for (const child of this.#run.view.children) {
      if (child.call === undefined || told.has(child.call) || !isTerminal(child.state)) continue;
      if (!isCutOff(linesOf(this.#run.earlier, child.index))) await readResult(this.#run, child);
    }
  }

  async #work(begun: Begun, beginning: Beginning, ended: AbortSignal): Promise<ScriptView> {
    const run = this.#run;
    const { index, key, planned } = begun;
    const { plan, timeoutMs } = planned;
    const layout = await run.childFolder(index);
    const control = new RunControl();
    const steering = new Steering(run, index);
    const clock = new AliveClock({ before: childAliveMs(run.earlier, index) });
    const limits = { index, scope: 'child' as const, timeoutMs, toolTimeoutMs: plan.toolTimeoutMs };
    const deadlines = new Deadlines(clock, limits, control, (event) => run.appendInTime(event));
    const desk = new ChildDesk(run, { index, plan }, layout, deadlines, steering);
    // The end of the workflow cuts a child off; only a person's stop is the child's end for good.
    const onEnded = () => control.request(this.#isStopped() ? 'stop' : 'interrupt');
    if (ended.aborted) onEnded();
    ended.addEventListener('abort', onEnded, { once: true });
    const wish = wishOf(linesOf(run.earlier, index));
    if (wish) control.request(wish.reason, wish.error);
    const aggregate = this.#aggregate?.claimed;
    const workplace = await this.#workplace(begun, control, clock);
    const tools = { run, index, plan, workplace, driver: this.#driver, control, desk, layout };
    const over = workOnChild({ ...tools, ...(aggregate ? { aggregate } : {}) }, beginning);
    this.#live.set(index, { index, control, steering, desk, over });
    try {
      return await answerOf(run, { index, key, planned }, await over);
    } finally {
      ended.removeEventListener('abort', onEnded);
      clock.dispose();
      this.#live.delete(index);
    }
  }

  async #workplace({ index, key, planned, source }: Begun, control: RunControl, clock: AliveClock): Promise<Workplace> {
    const { plan, cwd, lane, worktree: wish, worktreeOf: of } = planned;
    const common = { run: this.#run, index, plan, cwd, control, clock };
    if (!wish && !of) return new Workplace(common);
    const worktrees = await this.#worktrees();
    const look = async () => {
      const [found] = source ? [source] : await worktrees.check([{ key, cwd, wish: wish ?? {} }], control.signal);
      if (!found) throw new Error('a checkout was not looked at');
      return found;
    };
    return new Workplace({ ...common, worktree: { worktrees, label: lane?.key ?? key, source: look, of } });
  }

  /** @throws LanesError `resume_refused` with the reason */
  async #retained(id: string): Promise<RetainedChild> {
    const named = parseChildRunId(id);
    if (!named) throw lanesError('run_not_found:id', { id });
    const own = named.runId === this.#record.runId;
    const directory = own ? this.#run.layout.directory : join(this.#run.project.runs, named.runId);
    const { record, view } = own ? { record: this.#record, view: this.#run.view } : await RunReader.open(directory);
    const child = view.children.find(({ index }) => index === named.child);
    if (!child) throw lanesError('run_not_found:id', { id });
    if (!isTerminal(child.state)) throw lanesError('resume_refused:active', { state: child.state });
    if (child.state === 'stopped') throw lanesError('resume_refused:stopped');
    const session = child.session?.file;
    if (!session) throw lanesError('resume_refused:no-session');
    const hasWorktree = child.worktree !== undefined && child.worktree.state !== 'undone';
    const worktreeOf = hasWorktree ? { runId: record.runId, child: child.index } : undefined;
    if (record.mode === 'single') return { plan: record.child, cwd: record.cwd, session, worktreeOf };
    const { lines } = await readJournal(runLayout(directory).journal);
    const { plan, cwd } = await readPlan(directory, lines, child.index);
    return { plan, cwd, session, worktreeOf };
  }

  // ---- control

  /** The newest child of a key, or the one with this number. */
  find(wanted: string | number): ChildView | undefined {
    const { children } = this.#run.view;
    return children.findLast(({ key, index }) => (typeof wanted === 'number' ? index === wanted : key === wanted));
  }

  byRunId(id: string): ChildView | undefined {
    const named = parseChildRunId(id);
    return named?.runId === this.#record.runId && id.includes('.') ? this.find(named.child) : undefined;
  }

  /** The only one that is worked on. */
  get only(): number | undefined {
    const [first, ...more] = this.#live.keys();
    return more.length === 0 ? first : undefined;
  }

  /** `undefined`: it is not worked on. */
  steering(child: number): Steering | undefined {
    return this.#live.get(child)?.steering;
  }

  async end(reason: 'stop' | 'interrupt', child: number, request: RpcParams<'stop'>): Promise<RpcResult<'stop'>> {
    const live = this.#live.get(child);
    if (!live) return { outcome: 'too-late' };
    const { requestId, by } = request;
    const run = this.#run;
    await run.appendInTime({
      type: 'control.requested',
      requestId,
      child,
      action: reason,
      by,
      message: null,
      preview: null,
    });
    live.control.request(reason);
    const { state } = await live.over;
    const outcome = state === (reason === 'stop' ? 'stopped' : 'paused') ? 'done' : 'too-late';
    await run.append({ type: 'control.settled', requestId, outcome, reason: null });
    return { outcome };
  }

  /** The usage budget is used up: whoever is at work is told so, once. */
  wrapUp(): void {
    for (const { index, steering } of this.#live.values()) {
      if (this.#warned.has(index)) continue;
      this.#warned.add(index);
      const message = { requestId: randomUUID(), by: this.#record.owner, mode: 'steer' as const, message: WRAP_UP };
      // One that has just ended needs no advice.
      void steering.request(message).catch(() => undefined);
    }
  }

  async answer(params: RpcParams<'answer'>): Promise<RpcResult<'answer'> | undefined> {
    const child = this.#run.view.questions.find(({ id }) => id === params.questionId)?.child;
    return child ? this.#live.get(child)?.desk.questions.answer(params) : undefined;
  }

  /** Resolves when nobody is worked on any more. */
  async idle(): Promise<void> {
    while (this.#live.size > 0) await Promise.allSettled([...this.#live.values()].map(({ over }) => over));
  }

  /** Whether all that is left of the work is its end. */
  get isEnding(): boolean {
    return [...this.#live.values()].every(({ desk }) => desk.isOver);
  }

  hurry(): void {
    for (const { desk } of this.#live.values()) desk.hurry();
  }

  async endLiving(): Promise<void> {
    await Promise.all([...this.#live.values()].map(({ desk }) => desk.endLiving()));
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

/** The isolation of a launch. One that is not possible as asked is refused when it begins. */
function isolationOf(record: WorkflowRecord, params: Record<string, unknown>): Isolation | undefined {
  try {
    return isolationIn(record, params);
  } catch {
    return undefined;
  }
}

/** What was asked of a child, or ran out, before its runner died. */
function wishOf(lines: readonly JournalLine[]): { reason: EndReason; error: ErrorValue | null } | undefined {
  const asked = lines.flatMap((line) => (line.type === 'control.requested' ? [line.action] : []));
  if (asked.includes('stop')) return { reason: 'stop', error: null };
  const error = timeoutOf(lines);
  if (error) return { reason: 'timeout', error };
  return asked.includes('interrupt') ? { reason: 'interrupt', error: null } : undefined;
}

/** It was ended because its workflow had, and nobody asked for that. */
function isCutOff(lines: readonly JournalLine[]): boolean {
  const end = lines.findLast((line) => line.type === 'child.settled');
  return end?.type === 'child.settled' && end.state === 'paused' && wishOf(lines) === undefined;
}

function withoutEnd(lines: readonly JournalLine[]): JournalLine[] {
  return lines.filter(({ type }) => type !== 'child.settled');
}

function planBody(planned: PlannedChild): string {
  return `${JSON.stringify({ version: 1, ...planned })}\n`;
}

/** @throws LanesError `run_unreadable` when it is not there any more as it was written */
async function readPlan(directory: string, lines: readonly JournalLine[], child: number): Promise<PlannedChild> {
  const stored: PlannedChild = JSON.parse(await readChildPlanText(directory, lines, child));
  return { ...stored, plan: childPlan.parse(stored.plan) };
}
