/** Runs as tests of control look at them: planned, started, watched, cut off, taken over, and counted when they are over. */
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  allStores,
  type LaunchPlan,
  type LaunchRequest,
  planLaunch,
  type RunSnapshot,
  RunStore,
  readResultText,
  recoverRun,
  startRun,
  Toolbox,
  waitForEnd,
} from '../../src/client/index.ts';
import { ANSWER_MS, startRunner } from '../../src/client/runner-process.ts';
import type { RpcPeer } from '../../src/core/ipc/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { inspectLock } from '../../src/core/locks/index.ts';
import { childMarker, findTree } from '../../src/core/processes/index.ts';
import { ensureProject, runLayout } from '../../src/core/projects/index.ts';
import type { JournalLine, Owner, SingleRecord } from '../../src/protocol/index.ts';
import { type FakeLaunchPlan, fakeEnvironment } from './fake-pi/index.ts';
import { isAlive } from './process-state.ts';
import { waitFor } from './wait-for.ts';
import type { World } from './world.ts';

export const owner: Owner = { kind: 'cli', id: 'test' };

/** Milliseconds within which everything of a run is over, also when its child ignores all requests. */
const END_MS = 40_000;

export interface RunOptions extends Partial<LaunchRequest> {
  /** How the fake Pi starts. */
  launch?: FakeLaunchPlan;
  /** What its runners find in their environment besides. */
  env?: Record<string, string>;
  /** Changes the launch record, for what no request can ask for. */
  change?: (plan: LaunchPlan<SingleRecord>) => LaunchPlan<SingleRecord>;
}

/**
 * Waits until no run of this world has a living process, ends what is left then, and says which runs that was. Where every
 * test passed it is none.
 */
export async function endLeftovers(world: World): Promise<string[]> {
  const living = async () => {
    const found: { runId: string; pids: number[] }[] = [];
    for (const store of await allStores(world.toolbox.root)) {
      for (const runId of await store.runIds()) {
        const lease = await inspectLock(runLayout(store.directoryOf(runId)).lease);
        const tree = await findTree({ pid: 0, start: null }, childMarker(runId, 1));
        const runner = lease.state === 'held' && lease.owner ? [lease.owner.process] : [];
        if (runner.length + tree.length > 0) found.push({ runId, pids: [...runner, ...tree].map(({ pid }) => pid) });
      }
    }
    return found;
  };
  let left: Awaited<ReturnType<typeof living>> = [];
  const none = async () => {
    left = await living();
    return left.length === 0;
  };
  await waitFor('no process to be left', none, { timeoutMs: 5000, everyMs: 100 }).catch(() => undefined);
  for (const pid of left.flatMap(({ pids }) => pids)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  return left.map(({ runId, pids }) => `${runId}: ${pids.join(', ')}`);
}

type Of<T extends JournalLine['type']> = Extract<JournalLine, { type: T }>;

/** One run. Nothing is started before `start`. */
export class TestRun {
  readonly runId: string;
  readonly directory: string;
  readonly store: RunStore;
  readonly plan: LaunchPlan<SingleRecord>;
  readonly #world: World;
  readonly #env: Record<string, string>;

  private constructor(world: World, plan: LaunchPlan<SingleRecord>, env: Record<string, string>) {
    this.#world = world;
    this.#env = env;
    this.plan = plan;
    this.runId = plan.record.runId;
    this.store = new RunStore(plan.project);
    this.directory = this.store.directoryOf(this.runId);
  }

  static async plan(world: World, task: string, options: RunOptions = {}): Promise<TestRun> {
    const { launch, change, env, ...request } = options;
    const plan = await planLaunch(world.toolbox, {
      agent: 'worker',
      task,
      cwd: world.project,
      owner,
      trust: 'no-approve',
      ...request,
    });
    return new TestRun(world, change?.(plan) ?? plan, {
      ...(launch === undefined ? {} : fakeEnvironment(launch)),
      ...env,
    });
  }

  static async start(world: World, task: string, options: RunOptions = {}): Promise<TestRun> {
    const run = await TestRun.plan(world, task, options);
    await run.start();
    return run;
  }

  /** The client's tools; runners that are started with them die at the fault point. */
  toolbox(fault?: string): Toolbox {
    const env = { ...this.#world.env, ...this.#env, ...(fault === undefined ? {} : { PI_LANES_FAULT: fault }) };
    return new Toolbox({ env, distDirectory: this.#world.dist, client: { kind: 'cli', version: 'test' } });
  }

  async start(fault?: string): Promise<void> {
    await startRun(this.toolbox(fault), this.plan);
  }

  /** Starts it up to the point where only the starter's confirmation is missing: `proceed` on the connection returned. */
  async startUnconfirmed(): Promise<RpcPeer> {
    const { record, project, runtime, electron } = this.plan;
    if (!('layout' in project)) throw new Error('a planned run has a whole project');
    await ensureProject(project);
    const order = { kind: 'new' as const, runId: this.runId, projectDirectory: project.layout.directory };
    const program = { node: record.node, runner: runtime.runner, electron };
    const { peer } = await startRunner(this.toolbox(), program, project.layout, order);
    await peer.request('start', { record }, { deadlineMs: ANSWER_MS });
    return peer;
  }

  recover(settle: 'continue' | 'stop' = 'continue', fault?: string): Promise<void> {
    return recoverRun(this.toolbox(fault), this.directory, settle, owner);
  }

  snapshot(): Promise<RunSnapshot> {
    return this.store.read(this.runId);
  }

  /** The journal. It must be readable as a whole and numbered without gaps. */
  async lines(): Promise<JournalLine[]> {
    const { lines, skipped } = await readJournal(runLayout(this.directory).journal);
    expect(skipped).toEqual([]);
    expect(lines.map((line) => line.seq)).toEqual(lines.map((_, index) => index + 1));
    return lines;
  }

  async all<T extends JournalLine['type']>(type: T): Promise<Of<T>[]> {
    return (await this.lines()).filter((line): line is Of<T> => line.type === type);
  }

  /** The first such event, as soon as it is in the journal. */
  event<T extends JournalLine['type']>(type: T, fits: (line: Of<T>) => boolean = () => true): Promise<Of<T>> {
    return waitFor(`the event ${type} of ${this.runId}`, async () => (await this.all(type)).find(fits), {
      timeoutMs: 30_000,
    });
  }

  /** The run, as soon as `fits` holds for what a client sees. */
  until(what: string, fits: (snapshot: RunSnapshot) => boolean): Promise<RunSnapshot> {
    const look = async () => {
      const snapshot = await this.snapshot();
      return fits(snapshot) && snapshot;
    };
    return waitFor(what, look, { timeoutMs: 30_000 });
  }

  /** The child is at work, with this many answers of its model behind it. */
  async working(turns = 0): Promise<RunSnapshot> {
    // A prompt that is only meant to be sent may never be read, if the runner dies now.
    await this.event('child.prompted');
    return this.until('the child to be at work', ({ view }) => {
      const child = view?.children[0];
      return child?.phase !== 'starting' && child?.phase !== 'idle' && (child?.turns ?? -1) >= turns;
    });
  }

  /** Its end as clients see it, or that it is lost. */
  end(): Promise<RunSnapshot> {
    return waitForEnd(this.store, this.runId, { signal: AbortSignal.timeout(END_MS) });
  }

  text(): Promise<string | undefined> {
    return readResultText(this.directory, 1);
  }

  /** Process id of the newest runner. */
  async runner(): Promise<number> {
    return waitFor('the lease', async () => (await inspectLock(runLayout(this.directory).lease)).owner?.process.pid);
  }

  async signalRunner(signal: NodeJS.Signals): Promise<void> {
    process.kill(await this.runner(), signal);
  }

  /** As `kill -9`; resolves when it is gone. */
  async killRunner(): Promise<void> {
    await this.signalRunner('SIGKILL');
    await this.runnerGone();
  }

  async runnerGone(): Promise<void> {
    const pid = await this.runner();
    await waitFor(`the runner ${pid} to be gone`, () => !isAlive(pid), { timeoutMs: 30_000 });
  }

  /** Whatever carries the mark of this run's child, however it was started. */
  async processes(): Promise<number[]> {
    const tree = await findTree({ pid: 0, start: null }, childMarker(this.runId, 1));
    return tree.map((process) => process.pid);
  }

  /** The child and everything it started have ended. */
  async childGone(): Promise<void> {
    await waitFor('the processes of the child to be gone', async () => (await this.processes()).length === 0);
  }

  /** Neither processes nor marks of a live run are left, and every runner it ever had has gone. */
  async expectNothingLeft(): Promise<void> {
    const pids = (await this.lines()).flatMap((line) =>
      line.type === 'child.spawned' || line.type === 'runner.started' ? [line.process.pid] : [],
    );
    await waitFor('the processes of the run to be gone', () => pids.every((pid) => !isAlive(pid)));
    expect(await this.processes()).toEqual([]);
    expect(await this.store.activeIds()).not.toContain(this.runId);
    expect((await inspectLock(runLayout(this.directory).lease)).state).toBe('missing');
  }

  sessionFolder(): string {
    return join(this.directory, 'children', '1', 'session');
  }
}
