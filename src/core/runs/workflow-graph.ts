/**
 * A workflow as a graph of what it does and still means to do: its lanes with their stages, its other children by phase, its commands.
 * Pure: made from the view of the run alone, so that every client shows the same.
 */
import {
  type ChildView,
  cutToBytes,
  type HostStepView,
  isTerminal,
  type PlannedLane,
  type RunView,
  type WorkflowView,
} from '../../protocol/index.ts';
import { childRunId } from './ids.ts';

/** `blocked`: it needs somebody. `skipped`: it was announced and will not be started any more. */
export type GraphState =
  | 'blocked'
  | 'failed'
  | 'running'
  | 'paused'
  | 'stopped'
  | 'queued'
  | 'complete'
  /** Only of nodes. */
  | 'skipped';

export interface GraphNode {
  /** Key of the child, the announced stage or the command. */
  id: string;
  kind: 'child' | 'planned' | 'host-step';
  label: string;
  agent: string | null;
  state: GraphState;
  /** Number of the child in the run; null: it has not begun, or is a command. */
  child: number | null;
  runId: string | null;
}

export interface GraphPhase {
  /** Key of the lane, or what the script calls the phase; of the rest `agents` or `commands`. */
  title: string;
  kind: 'lane' | 'phase' | 'agents' | 'commands';
  state: GraphState;
  nodes: GraphNode[];
}

export interface WorkflowGraph {
  version: 1;
  phases: GraphPhase[];
  /** Id of the first node that keeps the workflow from being complete: one that is blocked, else failed, running, paused, stopped, queued. */
  bottleneck: string | null;
}

const PRECEDENCE: readonly GraphState[] = ['blocked', 'failed', 'running', 'paused', 'stopped', 'queued'];

/** `undefined` for a run that is no workflow. */
export function workflowGraph(view: RunView): WorkflowGraph | undefined {
  const { workflow } = view;
  if (!workflow) return undefined;
  const lanes = workflow.lanes.map((lane) => lanePhase(view, lane));
  const inLanes = new Set(workflow.lanes.flatMap(({ stages }) => stages.map(({ key }) => key)));
  const others = withWaiting(otherPhases(view, inLanes), waitingNodes(view, workflow, inLanes));
  const phases = [...lanes, ...others, ...commands(workflow)];
  return { version: 1, phases, bottleneck: bottleneckOf(phases) };
}

function lanePhase(view: RunView, { key: title, stages }: PlannedLane): GraphPhase {
  let isOpen = !isTerminal(view.state);
  const nodes = stages.map(({ key, label, agent }): GraphNode => {
    const child = view.children.findLast((one) => one.key === key);
    if (child) {
      const node = childNode(view, child);
      if (isTerminal(child.state) && child.state !== 'complete') isOpen = false;
      return { ...node, label: label ?? node.label };
    }
    const state = isOpen ? 'queued' : 'skipped';
    return { id: key, kind: 'planned', label: label ?? key, agent, state, child: null, runId: null };
  });
  return { title, kind: 'lane', state: laneState(view, nodes), nodes };
}

/** A lane whose last stages were not started, though nothing of it failed: the run ended before their turn, or one of its agents said no. */
function laneState(view: RunView, nodes: readonly GraphNode[]): GraphState {
  const state = phaseState(nodes);
  if (state !== 'complete' || !nodes.some((node) => node.state === 'skipped')) return state;
  return view.state === 'stopped' || view.state === 'paused' ? view.state : 'blocked';
}

/** Children outside of lanes, by the phase that the script names; those without one together. */
function otherPhases(view: RunView, inLanes: ReadonlySet<string>): GraphPhase[] {
  const byPhase = new Map<string | undefined, GraphNode[]>();
  for (const child of newestOfEachKey(view.children)) {
    if (child.key !== undefined && inLanes.has(child.key)) continue;
    const nodes = byPhase.get(child.phaseLabel) ?? [];
    byPhase.set(child.phaseLabel, [...nodes, childNode(view, child)]);
  }
  return [...byPhase].map(([phase, nodes]) => ({
    title: phase ?? 'agents',
    kind: phase === undefined ? 'agents' : 'phase',
    state: phaseState(nodes),
    nodes,
  }));
}

/** Launches that the script has asked for and that wait for their turn. Their phase is told when they begin. */
function waitingNodes(view: RunView, { waiting }: WorkflowView, inLanes: ReadonlySet<string>): GraphNode[] {
  if (isTerminal(view.state)) return [];
  const begun = new Set(view.children.map(({ call }) => call));
  return waiting
    .filter(({ id, key }) => !begun.has(id) && !inLanes.has(key))
    .map(({ key }) => ({
      id: key,
      kind: 'planned',
      label: key,
      agent: null,
      state: 'queued',
      child: null,
      runId: null,
    }));
}

function withWaiting(phases: GraphPhase[], waiting: readonly GraphNode[]): GraphPhase[] {
  if (waiting.length === 0) return phases;
  const isRest = ({ kind }: GraphPhase) => kind === 'agents';
  const nodes = [...(phases.find(isRest)?.nodes ?? []), ...waiting];
  return [
    ...phases.filter((phase) => !isRest(phase)),
    { title: 'agents', kind: 'agents', state: phaseState(nodes), nodes },
  ];
}

/** A child that went on by itself is there once more under its key, in the place of the first. */
function newestOfEachKey(children: readonly ChildView[]): ChildView[] {
  const byKey = new Map<string, ChildView>();
  for (const child of children) byKey.set(child.key ?? String(child.index), child);
  return [...byKey.values()];
}

function commands({ hosts }: WorkflowView): GraphPhase[] {
  const nodes = hosts.map(
    (host): GraphNode => ({
      id: host.key,
      kind: 'host-step',
      label: host.key,
      agent: null,
      state: hostState(host),
      child: null,
      runId: null,
    }),
  );
  return nodes.length === 0 ? [] : [{ title: 'commands', kind: 'commands', state: phaseState(nodes), nodes }];
}

function childNode(view: RunView, child: ChildView): GraphNode {
  const { key, index, label, agent } = child;
  const id = key ?? String(index);
  return {
    id,
    kind: 'child',
    label: label ?? id,
    agent,
    state: childState(view, child),
    child: index,
    runId: childRunId(view.runId, index),
  };
}

/** What needs somebody wins over what it does meanwhile. */
function childState(view: RunView, child: ChildView): GraphState {
  const { index, state, timedOut, toolBudgetBlocked, attention } = child;
  if (timedOut || toolBudgetBlocked) return 'blocked';
  if (!isTerminal(state) && (attention.length > 0 || view.questions.some((question) => question.child === index)))
    return 'blocked';
  switch (state) {
    case 'queued':
      return 'queued';
    case 'running':
      return 'running';
    case 'waiting':
      return 'blocked';
    case 'complete':
      return 'complete';
    case 'paused':
      return 'paused';
    case 'stopped':
      return 'stopped';
    case 'partial':
    case 'failed':
    case 'rejected':
      return 'failed';
    default:
      return state satisfies never;
  }
}

function hostState({ state }: HostStepView): GraphState {
  switch (state) {
    case 'asking':
    case 'unknown':
      return 'blocked';
    case 'running':
      return 'running';
    case 'passed':
      return 'complete';
    case 'stopped':
      return 'stopped';
    case 'failed':
    case 'timed-out':
    case 'denied':
      return 'failed';
    default:
      return state satisfies never;
  }
}

function phaseState(nodes: readonly GraphNode[]): GraphState {
  return PRECEDENCE.find((state) => nodes.some((node) => node.state === state)) ?? 'complete';
}

function bottleneckOf(phases: readonly GraphPhase[]): string | null {
  const nodes = phases.flatMap((phase) => phase.nodes);
  for (const state of PRECEDENCE) {
    const found = nodes.find((node) => node.state === state);
    if (found) return found.id;
  }
  return null;
}

const ROW_STATES = {
  queued: 'pending',
  running: 'running',
  waiting: 'running',
  complete: 'completed',
  partial: 'failed',
  failed: 'failed',
  paused: 'paused',
  stopped: 'stopped',
  rejected: 'rejected',
} as const;

const ROW_BYTES = 256;
const THINKING_BYTES = 32;

export interface WorkflowChildren {
  version: 1;
  workflowRunId: string;
  /** Whether no child can be added any more. */
  inventoryComplete: boolean;
  workflowState: RunView['state'];
  children: {
    childId: string;
    state: (typeof ROW_STATES)[keyof typeof ROW_STATES];
    runId: string;
    agent: string;
    model?: string;
    thinking?: string;
    activity?: string;
  }[];
}

/** The children of a workflow as a list for programs, in the order in which they were launched. */
export function workflowChildren(view: RunView): WorkflowChildren | undefined {
  if (!view.workflow) return undefined;
  const isOver = isTerminal(view.state);
  const cut = (text: string) => cutToBytes(text, ROW_BYTES);
  return {
    version: 1,
    workflowRunId: view.runId,
    inventoryComplete: isOver,
    workflowState: view.state,
    children: newestOfEachKey(view.children).map((child) => {
      const { key, index, state, agent, model, thinking, tool, phase, awaits } = child;
      const open = isTerminal(state) ? undefined : awaits ? `waits for ${awaits.owner}` : (tool ?? phase);
      const row = ROW_STATES[state];
      const left = view.state === 'stopped' ? ('stopped' as const) : ('failed' as const);
      return {
        childId: key ?? String(index),
        state: isOver && !isTerminal(state) ? left : row,
        runId: childRunId(view.runId, index),
        agent: cut(agent),
        ...(model === null ? {} : { model: cut(model) }),
        ...(thinking === null ? {} : { thinking: cutToBytes(thinking, THINKING_BYTES) }),
        ...(open ? { activity: cut(open) } : {}),
      };
    }),
  };
}
