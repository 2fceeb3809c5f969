/** How the inside of a workflow looks on a terminal: its limits, and what it does and still means to do. */
import { type GraphNode, workflowGraph } from '../core/runs/index.ts';
import { visible } from '../core/transcripts/index.ts';
import {
  type ChildView,
  formatCost,
  formatDuration,
  formatTokens,
  type HostStepView,
  isTerminal,
  type Preflight,
  type RunView,
  totalTokens,
  type WorkflowBounds,
} from '../protocol/index.ts';

const KEY_CHARS = 40;
const STATE_CHARS = 8;

/** `3/5`: children that have ended, of those that have begun or are announced; nothing of a workflow without children. */
export function formatProgress(view: RunView): string {
  const nodes = workflowGraph(view)?.phases.flatMap((phase) => phase.nodes) ?? [];
  const children = nodes.filter(({ kind }) => kind !== 'host-step');
  const ended = children.filter(({ child }) =>
    view.children.some(({ index, state }) => index === child && isTerminal(state)),
  );
  return children.length === 0 ? '' : `${ended.length}/${children.length}`;
}

export function formatBounds({ limits, timeoutMs }: WorkflowBounds): string {
  const { maxSubagentSpawnsPerRun, globalConcurrencyLimit, usageBudget } = limits;
  return [
    `${maxSubagentSpawnsPerRun} agents, ${globalConcurrencyLimit} at the same time`,
    ...(usageBudget?.tokens ? [`${usageBudget.tokens.hard} tokens`] : []),
    ...(usageBudget?.costUsd ? [formatCost(usageBudget.costUsd.hard)] : []),
    ...(timeoutMs === null ? [] : [formatDuration(timeoutMs)]),
  ].join(', ');
}

/** Which limits of a workflow are passed: a soft one, for which nothing is refused, or by those who were at work already. Empty: none. */
export function formatPassedLimits({ children, workflow }: RunView): string {
  const ended = children.filter(({ state }) => isTerminal(state)).map(({ usage }) => usage);
  const { tokens, costUsd } = workflow?.bounds?.limits.usageBudget ?? {};
  const usedTokens = ended.reduce((sum, { input, output }) => sum + input + output, 0);
  const usedCost = ended.reduce((sum, { cost }) => sum + cost, 0);
  const past = (used: number, limit: { soft?: number | undefined; hard?: number | undefined } | undefined) => {
    if (limit?.hard !== undefined && used > limit.hard) return limit.hard;
    return limit?.soft !== undefined && used >= limit.soft ? limit.soft : undefined;
  };
  const pastTokens = past(usedTokens, tokens);
  const pastCost = past(usedCost, costUsd);
  return [
    ...(pastTokens === undefined ? [] : [`${usedTokens} of ${pastTokens} tokens`]),
    ...(pastCost === undefined ? [] : [`${formatCost(usedCost)} of ${formatCost(pastCost)}`]),
  ].join(', ');
}

/** Lanes, phases and commands, each with a line for everything in it. Empty when nothing has begun or is announced. */
export function formatGraph(view: RunView, now: number): string {
  const { phases = [] } = workflowGraph(view) ?? {};
  const ids = phases.flatMap(({ nodes }) => nodes.map(({ id }) => id.length));
  const width = Math.min(KEY_CHARS, Math.max(0, ...ids));
  return phases
    .flatMap(({ title, kind, state, nodes }) => [
      kind === 'lane' || kind === 'phase' ? `${kind} ${title}: ${state}` : title,
      ...nodes.map((node) => `  ${formatNode(view, node, width, now)}`),
    ])
    .join('\n');
}

function formatNode(view: RunView, node: GraphNode, width: number, now: number): string {
  const start = node.id.padEnd(width);
  const child = view.children.find(({ index }) => index === node.child);
  if (child) return [start, ...childCells(view, child, now)].join('  ').trimEnd();
  const host = view.workflow?.hosts.findLast(({ key }) => node.kind === 'host-step' && key === node.id);
  if (host) return [start, ...hostCells(host, now)].join('  ').trimEnd();
  const word = node.state === 'skipped' ? 'skipped' : isWaiting(view, node) ? 'queued' : 'planned';
  return [start, word.padEnd(STATE_CHARS), node.agent ?? ''].join('  ').trimEnd();
}

/** The script has asked for it, and it waits for its turn. */
function isWaiting({ workflow }: RunView, { id }: GraphNode): boolean {
  return workflow?.waiting.some(({ key }) => key === id) === true;
}

function childCells(view: RunView, child: ChildView, now: number): string[] {
  const { state, agent, model, usage, startedAt, endedAt, tool, phase, error, index, attention } = child;
  const elapsed = startedAt === null ? '' : formatDuration((endedAt ?? now) - startedAt);
  const asks = view.questions.some((question) => question.child === index) ? 'asks something' : undefined;
  const waits = child.awaits && `waits for ${child.awaits.owner}`;
  const doing = isTerminal(state) ? undefined : (waits ?? tool ?? phase ?? undefined);
  const attempts = child.attemptedModels.length > 0 ? `after ${child.attemptedModels.join(', ')}` : undefined;
  return [
    state.padEnd(STATE_CHARS),
    agent.padEnd(9),
    (model ?? '').padEnd(12),
    formatTokens(totalTokens(usage)).padStart(7),
    formatCost(usage.cost).padStart(8),
    elapsed.padStart(7),
    [asks, doing, ...attention, attempts, error?.message].filter((word) => word !== undefined).join('; '),
  ];
}

function hostCells(
  { state, command, exitCode, outputPath, startedAt, endedAt, error }: HostStepView,
  now: number,
): string[] {
  const elapsed = startedAt === null ? '' : formatDuration((endedAt ?? now) - startedAt);
  const code = exitCode === null ? undefined : `exit code ${exitCode}`;
  return [
    state.padEnd(STATE_CHARS),
    [command.split('\n', 1)[0], code, error?.message, outputPath].filter(Boolean).join('; '),
    elapsed,
  ];
}

/** A line for each lane: what it is for, and what is said about it. */
export function formatPreflight({ coverage, lanes }: Preflight): string {
  const width = Math.min(KEY_CHARS, Math.max(0, ...lanes.map(({ key }) => key.length)));
  const rows = lanes.map(({ key, mode = '', decision, claims = [], expectedOutput, independence }) => {
    const said = [
      decision,
      claims.length > 0 ? `claims ${claims.join(', ')}` : undefined,
      expectedOutput === undefined ? undefined : `gives ${expectedOutput}`,
      independence,
    ];
    return `  ${key.padEnd(width)}  ${mode.padEnd(8)}  ${said.filter(Boolean).join('; ')}`.trimEnd();
  });
  return visible([`preflight (${coverage})`, ...rows].join('\n'));
}
