/** A run's state as the pure fold of its launch record and journal. No clock, no disk, no stored word about state. */
import {
  addUsage,
  type ChildView,
  isTerminal,
  type JournalLine,
  type LaunchRecord,
  NO_USAGE,
  type RunView,
  type SteerView,
  type WorkflowBounds,
  type WorkflowView,
} from '../../protocol/index.ts';
import {
  applyToWorkflow,
  commandAsked,
  commandSettled,
  newWorkflow,
  withoutAsking,
  withoutUnfinished,
} from './workflow-fold.ts';
import { applyToWorktree, enterWorktree } from './worktree-fold.ts';

const TITLE_CHARS = 200;

/** First line of a task that says something, cut to 200 characters. */
export function taskTitle(task: string): string {
  const line = task.split('\n').find((text) => text.trim() !== '') ?? '';
  const chars = [...line.trim().replace(/\p{Cc}/gu, ' ')];
  return chars.length > TITLE_CHARS ? `${chars.slice(0, TITLE_CHARS - 1).join('')}…` : chars.join('');
}

export function initialView(record: LaunchRecord): RunView {
  return {
    version: 1,
    runId: record.runId,
    mode: record.mode,
    state: 'queued',
    cwd: record.cwd,
    owner: record.owner,
    parentRunId: record.parent?.runId ?? null,
    workflowKey: record.workflowKey,
    lane: record.lane,
    createdAt: record.createdAt,
    startedAt: null,
    endedAt: null,
    updatedAt: record.createdAt,
    stopRequested: false,
    interruptRequested: false,
    questions: [],
    steering: [],
    resumedFrom: record.resume?.sourceRunId ?? null,
    epoch: 0,
    runner: null,
    error: null,
    usage: NO_USAGE,
    seq: 0,
    ...own(record),
  };
}

/** What the two kinds of run begin with. */
function own(record: LaunchRecord): Pick<RunView, 'agent' | 'label' | 'title' | 'model' | 'children' | 'workflow'> {
  if (record.mode === 'workflow') {
    return {
      agent: 'workflow',
      label: null,
      title: record.workflow.name,
      model: null,
      children: [],
      workflow: newWorkflow(record),
    };
  }
  const { agent, label = null, model = null, task } = record.child;
  return { agent: agent.name, label, title: taskTitle(task), model, children: [newChild(1, agent.name, label, model)] };
}

function newChild(index: number, agent: string, label: string | null, model: string | null): ChildView {
  return {
    index,
    agent,
    label,
    state: 'queued',
    phase: null,
    tool: null,
    model,
    thinking: null,
    session: null,
    attempt: 0,
    process: null,
    processes: [],
    turns: 0,
    toolCalls: 0,
    usage: NO_USAGE,
    startedAt: null,
    endedAt: null,
    stopReason: null,
    error: null,
    result: null,
    output: null,
    attemptedModels: [],
    attention: [],
    timedOut: false,
    sessionState: null,
    exit: null,
  };
}

export function foldRun(record: LaunchRecord, lines: Iterable<JournalLine>): RunView {
  let view = initialView(record);
  for (const line of lines) view = applyLine(view, line);
  return view;
}

/** The view after one more event. A terminal state is left only by a workflow that is continued. */
export function applyLine(view: RunView, line: JournalLine): RunView {
  const next = { ...applyEvent(view, line), seq: line.seq, updatedAt: Math.max(view.updatedAt, line.t) };
  if (line.type === 'run.continued' && view.workflow) return next;
  return isTerminal(view.state) ? { ...next, state: view.state, error: view.error, endedAt: view.endedAt } : next;
}

function applyEvent(view: RunView, line: JournalLine): RunView {
  switch (line.type) {
    case 'run.created':
    case 'recovery.decided':
      return view;
    case 'runner.started':
      // What an earlier runner waited for, this one does not yet.
      return { ...nobodyWaits(withWorkflow(view, withoutUnfinished)), epoch: line.epoch, runner: line.process };
    case 'recovery.begun':
      // What waited for the runner that is gone will not be answered by anybody.
      return withState({
        ...withWorkflow(view, withoutAsking),
        questions: [],
        stopRequested: view.stopRequested || line.settle === 'stop',
      });
    case 'run.proceeded':
      return { ...view, state: 'running', startedAt: view.startedAt ?? line.t };
    case 'child.planned': {
      if (!view.workflow) return view;
      const { key, id: call, phase, lane, cwd } = line;
      const child: ChildView = {
        ...newChild(line.child, line.agent, line.label, line.model),
        key,
        call,
        cwd,
        ...(phase === null ? {} : { phaseLabel: phase }),
        ...(lane === null ? {} : { lane }),
      };
      return { ...view, children: [...view.children, child].sort((a, b) => a.index - b.index) };
    }
    case 'worktree.planned':
    case 'worktree.made':
    case 'worktree.provisioned':
    case 'worktree.undone':
    case 'worktree.joined':
    case 'worktree.captured':
    case 'worktree.capture.failed':
      return withChild(view, line.child, (child) => applyToWorktree(child.worktree, line));
    case 'checkout.awaited':
      return withChild(view, line.child, ({ awaits }) => ({
        // Another owner may have been quicker: it is the same wait.
        awaits: { folder: line.folder, owner: line.owner, since: awaits?.since ?? line.t },
      }));
    case 'checkout.taken':
      return withoutWaiting(view, line.child);
    case 'child.spawn.intended':
      return withChild(view, line.child, (child) => ({
        ...enterWorktree(child.worktree),
        state: 'running',
        phase: 'starting',
        model: line.model ?? child.model,
        // The process may be there although nobody came to write that down.
        processes: [...child.processes, { attempt: line.attempt, process: null, tree: 'pending' as const }],
        attempt: line.attempt,
        startedAt: line.t,
        endedAt: null,
        exit: null,
      }));
    case 'child.spawned':
      return withChild(view, line.child, (child) => ({
        process: line.process,
        processes: [
          ...child.processes.filter((one) => one.attempt !== line.attempt || one.process !== null),
          { attempt: line.attempt, process: line.process, tree: 'pending' as const },
        ],
      }));
    case 'child.spawn.failed':
      return withChild(view, line.child, (child) => ({
        error: line.error,
        processes: child.processes.filter((one) => one.attempt !== line.attempt),
      }));
    case 'child.ready': {
      const next = withChild(view, line.child, () => ({
        phase: 'idle',
        session: line.session,
        model: line.model,
        thinking: line.thinking,
      }));
      // A workflow has as many models as its children.
      return view.mode === 'single' ? { ...next, model: line.model } : next;
    }
    case 'child.prompt.intended':
    case 'child.prompted':
      return withChild(view, line.child, () => ({ phase: 'thinking' }));
    case 'child.progress':
      return withChild(view, line.child, () => ({
        phase: line.phase,
        tool: line.tool,
        turns: line.turns,
        toolCalls: line.toolCalls,
        usage: line.usage,
      }));
    case 'child.stdout':
      return view;
    case 'child.attempt.failed':
      return withChild(view, line.child, (child) => ({
        attemptedModels:
          line.next === 'fallback' && child.model !== null && !child.attemptedModels.includes(child.model)
            ? [...child.attemptedModels, child.model]
            : child.attemptedModels,
      }));
    case 'child.session.checked':
      return withChild(view, line.child, () => ({ sessionState: line.state }));
    case 'child.settled':
      return withChild(withoutWaiting(view, line.child), line.child, () => ({
        state: line.state,
        phase: 'ending',
        tool: null,
        stopReason: line.stopReason,
        error: line.error,
        result: line.result,
        turns: line.turns,
        toolCalls: line.toolCalls,
        usage: line.usage,
        endedAt: line.t,
        attention: [],
        ...(line.toolBudgetBlocked ? { toolBudgetBlocked: true } : {}),
        ...(line.verdict === undefined ? {} : { verdict: line.verdict }),
      }));
    case 'child.ended':
      return withChild(view, line.child, (child) => ({
        phase: null,
        tool: null,
        endedAt: child.endedAt ?? line.t,
        processes: child.processes.map((one) => (one.attempt === line.attempt ? { ...one, tree: line.tree } : one)),
        exit: { exitCode: line.exitCode, signal: line.signal, tree: line.tree, note: line.note },
      }));
    case 'control.requested':
      if (line.action === 'stop' || line.action === 'interrupt') return withEndRequest(view, line.action, line.child);
      return { ...view, steering: [...view.steering, newSteer(line, line.action)].slice(-MAX_STEERS) };
    case 'control.settled': {
      const { outcome, reason } = line;
      if (outcome === 'done' || outcome === 'too-late') return view;
      const settle = (steer: SteerView) =>
        steer.requestId === line.requestId ? { ...steer, state: outcome, reason } : steer;
      return { ...view, steering: view.steering.map(settle) };
    }
    case 'timeout.reached':
      return withChild(view, line.child, () => ({ timedOut: true }));
    case 'question.asked': {
      const { questionId: id, child, method, title, message, options, expiresAt, host } = line;
      const question = { id, child, method, title, message, options, expiresAt, ...(host ? { host } : {}) };
      const asked = host ? withWorkflow(view, (workflow) => commandAsked(workflow, host, line.t)) : view;
      return withState({ ...asked, questions: [...view.questions, question] });
    }
    case 'question.answered':
    case 'question.expired': {
      const host = view.questions.find(({ id }) => id === line.questionId)?.host;
      const isAllowed = line.type === 'question.answered' && line.answer === 'yes';
      const settled = host ? withWorkflow(view, (workflow) => commandSettled(workflow, host, isAllowed, line.t)) : view;
      return withState({ ...settled, questions: view.questions.filter(({ id }) => id !== line.questionId) });
    }
    case 'attention.raised':
      return withChild(view, line.child, (child) => ({ attention: [...new Set([...child.attention, line.kind])] }));
    case 'attention.cleared':
      return withChild(view, line.child, (child) => ({
        attention: child.attention.filter((kind) => kind !== line.kind),
      }));
    case 'output.claimed':
      return withOutput(view, line.child, { path: line.path, outcome: null, error: null });
    case 'output.settled':
      return withOutput(view, line.child, { path: line.path, outcome: line.outcome, error: line.error });
    case 'workflow.delivered':
    case 'workflow.said':
    case 'workflow.planned':
    case 'workflow.stepped':
    case 'workflow.ended':
    case 'host.intended':
    case 'host.started':
    case 'host.ended':
      return withWorkflow(view, (workflow) => applyToWorkflow(workflow, line));
    case 'run.continued':
      return view.workflow ? reopened(view, view.workflow, line) : view;
    case 'journal.truncated':
      return { ...view, progressCut: true };
    case 'run.ended': {
      const children = view.children.map((child) =>
        isTerminal(child.state) ? child : { ...child, state: line.state, phase: null, tool: null },
      );
      const over = withWorkflow(view, withoutAsking);
      return {
        ...nobodyWaits({ ...over, children }),
        questions: [],
        state: line.state,
        error: line.error,
        endedAt: line.t,
      };
    }
    default:
      return line satisfies never;
  }
}

/** What is asked of one child of a workflow says nothing of the whole. Nothing takes a stop back. */
function withEndRequest(view: RunView, action: 'stop' | 'interrupt', index: number | undefined): RunView {
  if (index !== undefined)
    return withChild(view, index, (child) => ({ endRequested: child.endRequested === 'stop' ? 'stop' : action }));
  return action === 'stop' ? { ...view, stopRequested: true } : { ...view, interruptRequested: true };
}

function withOutput(view: RunView, child: number | undefined, output: NonNullable<ChildView['output']>): RunView {
  return child === undefined
    ? withWorkflow(view, (workflow) => ({ ...workflow, output }))
    : withChild(view, child, () => ({ output }));
}

function withWorkflow(view: RunView, change: (workflow: WorkflowView) => WorkflowView): RunView {
  return view.workflow ? { ...view, workflow: change(view.workflow) } : view;
}

/** The same run goes on: what it had come to at its end holds no more. */
function reopened(view: RunView, workflow: WorkflowView, { limits, timeoutMs }: WorkflowBounds): RunView {
  return {
    ...view,
    state: 'running',
    endedAt: null,
    error: null,
    stopRequested: false,
    interruptRequested: false,
    workflow: {
      ...workflow,
      continued: workflow.continued + 1,
      failure: null,
      ...(workflow.output ? { output: { ...workflow.output, outcome: null, error: null } } : {}),
      bounds: { limits, timeoutMs },
    },
  };
}

const MAX_STEERS = 20;

function newSteer(line: Extract<JournalLine, { type: 'control.requested' }>, mode: SteerView['mode']): SteerView {
  const { requestId, child, preview, t: at } = line;
  const steer: SteerView = { requestId, mode, preview: preview ?? '', state: 'pending', reason: null, at };
  return child === undefined ? steer : { ...steer, child };
}

/** `waiting` while a question is open; it is the same run, going on as soon as it is answered. */
function withState(view: RunView): RunView {
  if (view.state !== 'running' && view.state !== 'waiting') return view;
  return { ...view, state: view.questions.length > 0 ? 'waiting' : 'running' };
}

function withChild(view: RunView, index: number, change: (child: ChildView) => Partial<ChildView>): RunView {
  const children = view.children.map((child) => (child.index === index ? { ...child, ...change(child) } : child));
  return { ...view, children, usage: children.map((child) => child.usage).reduce(addUsage, NO_USAGE) };
}

function withoutWaiting(view: RunView, index: number): RunView {
  const children = view.children.map((child) => {
    if (child.index !== index || child.awaits === undefined) return child;
    const { awaits: _, ...others } = child;
    return others;
  });
  return { ...view, children };
}

function nobodyWaits(view: RunView): RunView {
  return view.children.reduce((all, { index, awaits }) => (awaits ? withoutWaiting(all, index) : all), view);
}

/** The children of a run as people name them: by key where there is one, else by number. */
export function childNames({ children }: Pick<RunView, 'children'>): string {
  return children.map(({ key, index }) => key ?? String(index)).join(', ');
}
