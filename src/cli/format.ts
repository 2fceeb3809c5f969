/** How runs look on a terminal. */
import type { RunSnapshot } from '../client/index.ts';
import { describeProof, processProof } from '../core/runs/index.ts';
import { visible } from '../core/transcripts/index.ts';
import { type ChildView, elapsedMs, formatCost, formatDuration, formatTokens, totalTokens } from '../protocol/index.ts';

/** One line of a list: id, state, agent, elapsed, tokens, cost, title. */
export function formatRow(snapshot: RunSnapshot, now: number = Date.now()): string {
  const { view } = snapshot;
  if (!view) return `${snapshot.runId}  unknown   ${visible(snapshot.error?.message ?? '')}`;
  const cells = [
    snapshot.runId,
    snapshot.state.padEnd(8),
    view.agent.padEnd(9),
    formatDuration(elapsedMs(view, snapshot.state, now)).padStart(7),
    formatTokens(totalTokens(view.usage)).padStart(7),
    formatCost(view.usage.cost).padStart(8),
  ];
  return `${cells.join('  ')}  ${visible(view.label ?? view.title)}`;
}

export function formatDetails(snapshot: RunSnapshot, now: number = Date.now()): string {
  const { view } = snapshot;
  const rows: [string, string | null | undefined][] = [
    ['run', snapshot.runId],
    ['state', snapshot.state],
    ['agent', view?.agent],
    ['label', view?.label],
    ['task', view?.title],
    ['folder', view?.cwd],
    ['model', view?.model],
    ['elapsed', view && formatDuration(elapsedMs(view, snapshot.state, now))],
    ['tokens', view && `${totalTokens(view.usage)} (${formatCost(view.usage.cost)})`],
    ['session', view?.children[0]?.session?.file],
    ['processes', view && describeProof(processProof(view))],
    ['resumed', view?.resumedFrom && `from ${view.resumedFrom}`],
    ['output', view?.children[0]?.output && describeOutput(view.children[0].output)],
    [
      'asks',
      view?.questions
        .map((question) => `${[question.title, question.message].filter(Boolean).join(' ')} [${question.id}]`)
        .join('\n') || null,
    ],
    ['steering', view?.steering.map((steer) => `${steer.state}: ${steer.preview}`).join('\n           ') || null],
    ['budget', view?.children[0]?.toolBudgetBlocked && 'its tool calls were used up, and more of them refused'],
    ['attention', view?.children[0]?.attention.join(', ') || null],
    ['error', snapshot.error?.message],
    ['next', snapshot.error?.hint],
    ['journal', view?.progressCut && 'full: what the agent is doing is not recorded any more'],
    ['unreadable', snapshot.skipped > 0 ? `${snapshot.skipped} journal record(s)` : null],
    ['damaged', snapshot.damage],
    ['files', snapshot.directory],
  ];
  return rows.flatMap(([name, value]) => (value ? [`${name.padEnd(11)}${visible(value)}`] : [])).join('\n');
}

function describeOutput({ path, outcome, error }: NonNullable<ChildView['output']>): string {
  const failed = error === null ? '' : `: ${error}. The answer stands in the transcript`;
  return `${path} (${outcome ?? 'claimed'}${failed})`;
}
