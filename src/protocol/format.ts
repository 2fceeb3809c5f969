/** How the numbers of a run are written, the same in every client. */

/** `3s`, `4m 05s`, `2h 10m`. Milliseconds in. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  const two = (n: number) => String(n).padStart(2, '0');
  return minutes < 60 ? `${minutes}m ${two(seconds % 60)}s` : `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
}

/** `950`, `12.3k`, `1.2M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  return tokens < 1_000_000 ? `${(tokens / 1000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

/** `950 B`, `12.3 kB`, `1.2 MB`, `3.4 GB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** US dollars: `$0`, `$0.0012`, `$1.20`. */
export function formatCost(cost: number): string {
  if (cost === 0) return '$0';
  return cost < 0.01 ? `$${cost.toFixed(4)}` : `$${cost.toFixed(2)}`;
}

/**
 * Milliseconds a run has taken so far: until its end, until now while it lives, until its last sign of life when its
 * runner is gone. Never less than nothing, however the wall clock was set meanwhile.
 */
export function elapsedMs(
  view: { createdAt: number; startedAt: number | null; endedAt: number | null; updatedAt: number },
  state: string,
  now: number,
): number {
  const end = view.endedAt ?? (state === 'lost' ? view.updatedAt : now);
  return Math.max(0, end - (view.startedAt ?? view.createdAt));
}
