/** Looking through the transcripts of many runs. */
import { describe, expect, it, vi } from 'vitest';
import {
  HITS_EACH,
  MAX_HITS_SHOWN,
  type Search,
  type SearchReport,
  searchTranscripts,
} from '../../../src/extension/transcripts/search-transcripts.ts';
import type { FindHit, SourceFile } from '../../../src/protocol/index.ts';
import { aSnapshot } from './snapshots.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

const now = Date.now();
const runs = (count: number) =>
  Array.from({ length: count }, (_, n) => {
    const snapshot = aSnapshot('complete', { at: now - n * 1000, task: `run ${n}` });
    return { runId: snapshot.runId, read: async () => snapshot, snapshot };
  });
const hit = (excerpt: string): FindHit => ({
  key: 'k',
  cursor: 'c',
  excerpt,
  at: 0,
  length: 1,
  kind: 'text',
  tool: null,
});

/** Finds in each run what a function of its folder says. */
const searching =
  (count: (directory: string) => number | Promise<number>): Search =>
  async ([file], _query, limit) => {
    const found = await count(file?.path ?? '');
    return Array.from({ length: Math.min(limit, found) }, () => hit(file?.path ?? ''));
  };

async function report(list: ReturnType<typeof runs>, search: Search): Promise<SearchReport[]> {
  const reports: SearchReport[] = [];
  const { signal } = new AbortController();
  await searchTranscripts(list, 'x', { search, signal, onReport: (one) => reports.push(one) });
  return reports;
}

describe('a search of all transcripts', () => {
  it('tells what it finds as it comes, in the order of the runs, whichever is read first', async () => {
    const list = runs(12);
    const slow = list[0]?.snapshot.directory ?? '';
    const release = Promise.withResolvers<number>();
    const search = searching((path) => (path.startsWith(slow) ? release.promise : 1));
    const reports: SearchReport[] = [];
    const { signal } = new AbortController();
    const onReport = (one: SearchReport) => {
      reports.push(one);
      // Three others are read beside it.
      if (one.searched === 11) release.resolve(1);
    };
    await searchTranscripts(list, 'x', { search, signal, onReport });
    expect(reports[0]).toMatchObject({ searched: 1, total: 12, done: false });
    expect(reports.at(-1)).toMatchObject({ searched: 12, unread: 0, cut: false, done: true });
    expect(reports.at(-1)?.found.map(({ snapshot }) => snapshot.runId)).toEqual(list.map(({ runId }) => runId));
  });

  it('takes a few places of each and ends when there are too many', async () => {
    const list = runs(200);
    const reports = await report(
      list,
      searching(() => 1000),
    );
    const last = reports.at(-1);
    expect(last).toMatchObject({ cut: true, done: true });
    const hits = last?.found.reduce((sum, one) => sum + one.hits.length, 0) ?? 0;
    expect(hits).toBeGreaterThanOrEqual(MAX_HITS_SHOWN);
    expect(hits).toBeLessThan(MAX_HITS_SHOWN + 4 * HITS_EACH);
    expect(last?.searched).toBeLessThan(40);
  });

  it('goes on where a transcript cannot be read, and says so', async () => {
    const list = runs(5);
    const broken = list[1]?.snapshot.directory ?? '';
    const reports = await report(
      list,
      searching((path) => {
        if (path.startsWith(broken)) throw new Error('EIO');
        return 1;
      }),
    );
    expect(reports.at(-1)).toMatchObject({ searched: 5, unread: 1, done: true });
    expect(reports.at(-1)?.found).toHaveLength(4);
  });

  it('looks into every child of a run', async () => {
    const snapshot = aSnapshot('complete', { at: now });
    const child = snapshot.view?.children[0];
    if (!snapshot.view || !child) throw new Error('no child');
    const view = { ...snapshot.view, children: [child, { ...child, index: 2 }] };
    const seen: SourceFile[][] = [];
    const search: Search = async (files) => {
      seen.push(files);
      return [hit('')];
    };
    const list = [{ runId: snapshot.runId, read: async () => ({ ...snapshot, view }), snapshot }];
    const reports = await report(list, search);
    expect(reports.at(-1)?.found.map((one) => one.child)).toEqual([1, 2]);
    expect(new Set(seen.map(([file]) => file?.path)).size).toBe(2);
  });

  it('says and starts nothing any more when it is ended', async () => {
    const ending = new AbortController();
    const reports: SearchReport[] = [];
    let searched = 0;
    const search: Search = async (_files, _query, _limit, signal) => {
      searched += 1;
      if (searched === 10) ending.abort();
      signal.throwIfAborted();
      return [];
    };
    await searchTranscripts(runs(100), 'x', { search, signal: ending.signal, onReport: (one) => reports.push(one) });
    expect(searched).toBeLessThanOrEqual(13);
    expect(reports.filter(({ done }) => done)).toEqual([]);
  });

  it('has an end where there are no runs', async () => {
    expect(
      await report(
        [],
        searching(() => 1),
      ),
    ).toEqual([{ found: [], searched: 0, total: 0, unread: 0, cut: false, done: true }]);
  });
});
