/** How runs look on a terminal. */
import type { RunSnapshot } from '../client/index.ts';
import { visible } from '../core/transcripts/index.ts';
import { totalTokens } from '../protocol/index.ts';

/** `3s`, `4m 05s`, `2h 10m`. Milliseconds in. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  const two = (n: number) => String(n).padStart(2, '0');
  return minutes < 60 ? `${minutes}m ${two(seconds % 60)}s` : `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
}

export function formatTokens(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  return tokens < 1_000_000 ? `${(tokens / 1000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

export function formatCost(cost: number): string {
  return cost === 0 ? '$0' : cost < 0.01 ? `$${cost.toFixed(4)}` : `$${cost.toFixed(2)}`;
}

export function elapsedMs(snapshot: RunSnapshot, now: number = Date.now()): number {
  const { view } = snapshot;
  if (!view) return 0;
  const end = view.endedAt ?? (snapshot.state === 'lost' ? view.updatedAt : now);
  return end - (view.startedAt ?? view.createdAt);
}

/** One line of a list: id, state, agent, elapsed, tokens, cost, title. */
export function formatRow(snapshot: RunSnapshot, now: number = Date.now()): string {
  const { view } = snapshot;
  if (!view) return `${snapshot.runId}  unknown   ${visible(snapshot.error?.message ?? '')}`;
  const cells = [
    snapshot.runId,
    snapshot.state.padEnd(8),
    view.agent.padEnd(9),
    formatDuration(elapsedMs(snapshot, now)).padStart(7),
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
    ['elapsed', view && formatDuration(elapsedMs(snapshot, now))],
    ['tokens', view && `${totalTokens(view.usage)} (${formatCost(view.usage.cost)})`],
    ['session', view?.children[0]?.session?.file],
    ['processes', view?.children[0]?.exit && (view.children[0].exit.tree === 'gone' ? 'all gone' : 'not proven gone')],
    ['error', snapshot.error?.message],
    ['next', snapshot.error?.hint],
    ['unreadable', snapshot.skipped > 0 ? `${snapshot.skipped} journal record(s)` : null],
    ['files', snapshot.directory],
  ];
  return rows.flatMap(([name, value]) => (value ? [`${name.padEnd(11)}${visible(value)}`] : [])).join('\n');
}
