/** How runs look on a terminal. */
import type { RunSnapshot } from '../client/index.ts';
import { describeProof, processProof } from '../core/runs/index.ts';
import { visible } from '../core/transcripts/index.ts';
import {
  type ChildView,
  cutText,
  elapsedMs,
  formatCost,
  formatDuration,
  formatTokens,
  type RunView,
  type SteerView,
  totalTokens,
  visibleLine,
} from '../protocol/index.ts';
import { formatBounds, formatGraph, formatPassedLimits, formatPreflight, formatProgress } from './format-workflow.ts';
import { nextStep } from './next-step.ts';
import { preflightDifferences } from './preflight-differences.ts';
import { questionText } from './question-text.ts';
import { keptOf, noticesOf } from './worktree-text.ts';

/** Of a value that a workflow returned, as one line. */
const VALUE_CHARS = 500;

/** What the script of a workflow came to, and the file that has all of it. */
export interface Returned {
  ok: boolean;
  value?: unknown;
  file: string;
  /** Why the file cannot be read, if so. */
  damage?: string;
}

/** One line of a list: id, state, agent, elapsed, tokens, cost, title. */
export function formatRow(snapshot: RunSnapshot, now: number = Date.now()): string {
  const { view } = snapshot;
  if (!view) return `${snapshot.runId}  unknown   ${visible(snapshot.error?.message ?? '')}`;
  const cells = [
    snapshot.runId,
    snapshot.state.padEnd(8),
    (view.workflow ? `workflow ${formatProgress(view)}`.trim() : view.agent).padEnd(9),
    formatDuration(elapsedMs(view, snapshot.state, now)).padStart(7),
    formatTokens(totalTokens(view.usage)).padStart(7),
    formatCost(view.usage.cost).padStart(8),
  ];
  return `${cells.join('  ')}  ${visible(view.label ?? view.title)}`;
}

export function formatDetails(snapshot: RunSnapshot, now: number = Date.now(), returned?: Returned): string {
  const { view } = snapshot;
  const workflow = view?.workflow;
  // The one child of a single run; those of a workflow have lines of their own.
  const child = workflow ? undefined : view?.children[0];
  const rows: [string, string | null | undefined][] = [
    ['run', snapshot.runId],
    ['state', snapshot.state],
    ['agent', workflow ? null : view?.agent],
    ['label', view?.label],
    [workflow ? 'workflow' : 'task', view?.title],
    ['script', path(workflow?.file)],
    ['folder', path(view?.cwd)],
    ['waits', child?.awaits && waitsFor(child.awaits)],
    ['worktree', path(child?.worktree?.path)],
    ['branch', child?.worktree?.branch],
    ['kept', child?.worktree && keptOf(child.worktree)],
    ['noticed', view && indented(noticesOf(view.children).join('\n'))],
    ['model', view?.model],
    ['elapsed', view && formatDuration(elapsedMs(view, snapshot.state, now))],
    ['tokens', view && `${totalTokens(view.usage)} (${formatCost(view.usage.cost)})`],
    ['named', workflow?.resource?.id],
    ['limits', workflow?.bounds && formatBounds(workflow.bounds)],
    ['budget', view && past(formatPassedLimits(view))],
    ['continued', workflow?.continued ? times(workflow.continued) : null],
    ['preflight', workflow?.preflight && indented(formatPreflight(workflow.preflight))],
    ['differs', view && indented(preflightDifferences(view).join('\n'))],
    ['inside', view && indented(formatGraph(view, now))],
    ['session', path(child?.session?.file)],
    ['processes', view && describeProcesses(view, snapshot.state)],
    ['resumed', view?.resumedFrom && `from ${view.resumedFrom}`],
    ['output', child?.output && describeOutput(child.output, 'The answer stands in the transcript')],
    ['output', workflow?.output && describeOutput(workflow.output, 'It stands in the result')],
    ['asks', view && indented(view.questions.map((question) => questionText(view.runId, question)).join('\n'))],
    ['steering', view && indented(view.steering.map((steer) => describeSteer(view, steer)).join('\n'))],
    ['budget', child?.toolBudgetBlocked && 'its tool calls were used up, and more of them refused'],
    ['attention', child?.attention.join(', ') || null],
    ['error', indented(snapshot.error?.message ?? '')],
    ['next', snapshot.error && nextStep(snapshot.error, snapshot.runId)],
    ['returned', returned?.ok ? describeValue(returned.value) : null],
    ['result', returned && describeResult(returned)],
    ['journal', view?.progressCut && 'full: what the agent is doing is not recorded any more'],
    ['unreadable', snapshot.skipped > 0 ? `${snapshot.skipped} journal record(s)` : null],
    ['damaged', snapshot.damage],
    ['files', snapshot.directory],
  ];
  return rows.flatMap(([name, value]) => (value ? [`${name.padEnd(11)}${visible(value)}`] : [])).join('\n');
}

/** Of a run at work there is nothing to tell yet; of one that is lost there is. */
function describeProcesses(view: RunView, state: RunSnapshot['state']): string | null {
  const proof = processProof(view);
  return proof.state === 'pending' && state !== 'lost' ? null : describeProof(proof);
}

/** Of the rows only texts have several lines. */
function path(name: string | null | undefined): string | null | undefined {
  return name && visibleLine(name);
}

function waitsFor({ owner, folder }: NonNullable<ChildView['awaits']>): string {
  return `for ${owner} to be done with changing files in ${visibleLine(folder)}`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** The children of a workflow are told apart by their keys. */
function describeSteer({ children, workflow }: RunView, { child, state, preview }: SteerView): string {
  const to = workflow ? children.find(({ index }) => index === child)?.key : undefined;
  return `${state}${to ? ` (${to})` : ''}: ${preview}`;
}

function describeResult({ file, damage }: Returned): string {
  return damage === undefined
    ? file
    : `${file} cannot be read: ${damage}. What the agents said stands in their transcripts`;
}

function describeValue(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return text.length <= VALUE_CHARS ? text : `${cutText(text, VALUE_CHARS)}… (cut)`;
}

function past(limits: string): string | null {
  return limits === '' ? null : `past its limit: ${limits}`;
}

/** The further lines of a text that stands behind the name of a row. */
function indented(text: string): string {
  return text.split('\n').join(`\n${' '.repeat(11)}`);
}

function describeOutput({ path, outcome, error }: NonNullable<ChildView['output']>, otherwise: string): string {
  const failed = error === null ? '' : `: ${error}. ${otherwise}`;
  return `${path} (${outcome ?? 'claimed'}${failed})`;
}
