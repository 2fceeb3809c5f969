/** What a run hands over, written anew each time something was kept: one entry for each worktree, of the child that was last in it. */
import { dirname } from 'node:path';
import { whenThereIsRoom } from '../core/files/index.ts';
import { readStored } from '../core/runs/index.ts';
import { type HandoffSource, makeHandoff, readHandoff, writeHandoff } from '../core/worktrees/index.ts';
import { type ChildView, wordsOf, worktreeCapture, worktreeRecord } from '../protocol/index.ts';
import type { OpenRun } from './open-run.ts';

/** Never rejects: nothing is lost by it, and readers say that there is none. */
export async function handOver(run: OpenRun): Promise<void> {
  const { record, layout, view } = run;
  try {
    const last = new Map(view.children.map((child) => [child.worktree?.path, child]));
    const sources = await Promise.all([...last.values()].map((child) => sourceOf(layout.directory, child)));
    const before = await readHandoff(layout.handoff, record.runId).catch(() => undefined);
    const about = { runId: record.runId, mode: view.mode, cwd: view.cwd };
    const manifest = makeHandoff(about, sources.flat(), Date.now(), before);
    await whenThereIsRoom(() => writeHandoff(layout.handoff, manifest));
  } catch (error) {
    console.error(`pi-lanes runner: what the run hands over could not be written: ${wordsOf(error)}`);
  }
}

/** None for a child without a worktree, or with one that is not there. */
async function sourceOf(directory: string, child: ChildView): Promise<HandoffSource[]> {
  const { worktree, index, agent, key, lane, state, output, session } = child;
  if (!worktree?.record || worktree.state === 'undone') return [];
  const plan = worktreeRecord.parse(JSON.parse(await readStored(directory, worktree.record)));
  const { capture } = worktree;
  return [
    {
      plan: { ...plan, child: index },
      agent,
      key,
      ...(lane && lane.key === key ? { lane } : {}),
      status: state,
      output: output?.path,
      session: session?.file ?? undefined,
      kept: capture
        ? {
            capture: worktreeCapture.parse(JSON.parse(await readStored(directory, capture))),
            folder: dirname(capture.file),
          }
        : undefined,
      error: worktree.state === 'capture-failed' ? worktree.faults[0] : undefined,
    },
  ];
}
