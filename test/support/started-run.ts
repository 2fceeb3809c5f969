/** A run as a client starts it and looks at it: waited for, with its journal and its answer. */
import { expect } from 'vitest';
import {
  type LaunchRequest,
  launch,
  type RunSnapshot,
  RunStore,
  readResultText,
  type Toolbox,
  waitForEnd,
} from '../../src/client/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import type { ChildView, JournalLine, Owner } from '../../src/protocol/index.ts';
import type { FakePi } from './fake-pi/index.ts';
import { isAlive } from './process-state.ts';
import { waitFor } from './wait-for.ts';
import type { World } from './world.ts';

export const owner: Owner = { kind: 'cli', id: 'test' };

export interface Started {
  runId: string;
  directory: string;
  store: RunStore;
}

export const ofType = <T extends JournalLine['type']>(lines: readonly JournalLine[], type: T) =>
  lines.filter((line): line is Extract<JournalLine, { type: T }> => line.type === type);

/** Starts a worker in the world's project. */
export async function startWorker(
  world: World,
  task: string,
  { toolbox = world.toolbox, ...request }: Partial<LaunchRequest> & { toolbox?: Toolbox } = {},
): Promise<Started> {
  const base = { agent: 'worker', task, cwd: world.project, owner, trust: 'no-approve' } as const;
  const run = await launch(toolbox, { ...base, ...request });
  return { ...run, store: new RunStore(run.project) };
}

/** The journal, which must be readable as a whole and numbered without gaps. */
export async function journalOf({ directory }: { directory: string }): Promise<JournalLine[]> {
  const { lines, skipped, unfinishedBytes } = await readJournal(runLayout(directory).journal);
  expect({ skipped, unfinishedBytes }).toEqual({ skipped: [], unfinishedBytes: 0 });
  expect(lines.map((line) => line.seq)).toEqual(lines.map((_, index) => index + 1));
  return lines;
}

/** Its agent has come to a gate of its task, and its journal tells that it was given its task this often. */
export async function atGate(
  fake: Pick<FakePi, 'arrivedAt'>,
  { directory }: { directory: string },
  gate: string,
  prompts = 1,
): Promise<void> {
  await fake.arrivedAt(gate);
  await waitFor('the task to be taken', async () => {
    const { lines } = await readJournal(runLayout(directory).journal);
    return ofType(lines, 'child.prompted').length >= prompts;
  });
}

export interface Ended {
  snapshot: RunSnapshot;
  child: ChildView | undefined;
  lines: JournalLine[];
  /** The answer that is kept. */
  text: string | undefined;
}

/** Waits for the end of the run and of its runners. */
export async function ended({ runId, directory, store }: Started): Promise<Ended> {
  const snapshot = await waitForEnd(store, runId);
  const runners = ofType(await journalOf({ directory }), 'runner.started').map((line) => line.process.pid);
  await waitFor('the runner to be gone', () => !runners.some(isAlive));
  const lines = await journalOf({ directory });
  return { snapshot, child: snapshot.view?.children[0], lines, text: await readResultText(directory, 1) };
}
