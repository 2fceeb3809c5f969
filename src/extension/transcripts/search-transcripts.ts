/**
 * A text in the transcripts of many runs. A few are read at a time, by the thread that reads transcripts; what is found is
 * told as it comes, and the whole ends when there is more than anybody looks through.
 */
import type { RunSnapshot } from '../../client/index.ts';
import type { FindHit, SourceFile } from '../../protocol/index.ts';
import { filesOfRun } from '../panels/transcript/transcript-panel.ts';

/** Of one transcript. Its own find box shows all. */
export const HITS_EACH = 10;
export const MAX_HITS_SHOWN = 300;
const AT_ONCE = 4;

export interface SearchedRun {
  runId: string;
  read(): Promise<RunSnapshot>;
}

/** What can look through one transcript; resolves with the first hits, at most `limit`. */
export type Search = (files: SourceFile[], query: string, limit: number, signal: AbortSignal) => Promise<FindHit[]>;

export interface Found {
  snapshot: RunSnapshot;
  child: number;
  hits: FindHit[];
}

export interface SearchReport {
  /** In the order of the runs. */
  found: Found[];
  searched: number;
  total: number;
  /** Runs whose transcript could not be read. */
  unread: number;
  /** More is there than is told. */
  cut: boolean;
  done: boolean;
}

/**
 * @param onReport called when something was found, and at the end
 * @param onUnread called with what could not be read
 */
export async function searchTranscripts(
  runs: readonly SearchedRun[],
  query: string,
  options: {
    search: Search;
    signal: AbortSignal;
    onReport: (report: SearchReport) => void;
    onUnread?: (runId: string, error: unknown) => void;
  },
): Promise<void> {
  const { search, signal, onReport, onUnread } = options;
  const found = new Map<number, Found[]>();
  const state = { searched: 0, unread: 0, hits: 0, cut: false };
  let next = 0;
  const report = (done: boolean) => {
    if (signal.aborted) return;
    const { searched, unread, cut } = state;
    const inOrder = [...found.entries()].sort(([a], [b]) => a - b).flatMap(([, all]) => all);
    onReport({ found: inOrder, searched, total: runs.length, unread, cut, done });
  };

  async function searchRun({ read }: SearchedRun): Promise<Found[]> {
    const snapshot = await read();
    const all: Found[] = [];
    for (const child of snapshot.view?.children.map(({ index }) => index) ?? [1]) {
      signal.throwIfAborted();
      const hits = await search(filesOfRun(snapshot, child), query, HITS_EACH, signal);
      if (hits.length > 0) all.push({ snapshot, child, hits });
    }
    return all;
  }

  async function work(): Promise<void> {
    while (next < runs.length && !state.cut && !signal.aborted) {
      const index = next++;
      const run = runs[index];
      if (!run) return;
      try {
        const here = await searchRun(run);
        state.searched += 1;
        if (here.length === 0) continue;
        found.set(index, here);
        state.hits += here.reduce((sum, { hits }) => sum + hits.length, 0);
        state.cut = state.hits >= MAX_HITS_SHOWN;
        report(false);
      } catch (error) {
        if (signal.aborted) return;
        state.searched += 1;
        state.unread += 1;
        onUnread?.(run.runId, error);
      }
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, work));
  report(true);
}
