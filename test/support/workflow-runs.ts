/** Workflow runs as tests look at them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type PlannedWorkflow,
  planWorkflow,
  type RunSnapshot,
  RunStore,
  readWorkflowResult,
  recoverRun,
  startRun,
  Toolbox,
  type WorkflowRequest,
  type WorkflowResultFile,
  waitForEnd,
} from '../../src/client/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { inspectLock } from '../../src/core/locks/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import type { JournalLine } from '../../src/protocol/index.ts';
import { owner } from './control-matrix-runs.ts';
import { isAlive } from './process-state.ts';
import { waitFor } from './wait-for.ts';
import type { World } from './world.ts';

/** Milliseconds within which a workflow of a test is over. */
const END_MS = 45_000;

type Of<T extends JournalLine['type']> = Extract<JournalLine, { type: T }>;

export class TestWorkflow {
  readonly runId: string;
  readonly directory: string;
  readonly plan: PlannedWorkflow;
  readonly #store: RunStore;
  readonly #world: World;

  private constructor(world: World, plan: PlannedWorkflow) {
    this.#world = world;
    this.plan = plan;
    this.runId = plan.record.runId;
    this.#store = new RunStore(plan.project);
    this.directory = this.#store.directoryOf(this.runId);
  }

  static async plan(world: World, script: string, request: Partial<WorkflowRequest> = {}): Promise<TestWorkflow> {
    const plan = await planWorkflow(world.toolbox, {
      script,
      file: null,
      cwd: world.project,
      owner,
      trust: 'no-approve',
      ...request,
    });
    return new TestWorkflow(world, plan);
  }

  static async start(world: World, script: string, request: Partial<WorkflowRequest> = {}): Promise<TestWorkflow> {
    const run = await TestWorkflow.plan(world, script, request);
    await run.start();
    return run;
  }

  /** Runners that are started with these tools die at the fault point. */
  toolbox(fault?: string): Toolbox {
    const env = { ...this.#world.env, ...(fault === undefined ? {} : { PI_LANES_FAULT: fault }) };
    return new Toolbox({ env, distDirectory: this.#world.dist, client: { kind: 'cli', version: 'test' } });
  }

  async start(fault?: string): Promise<void> {
    await startRun(this.toolbox(fault), this.plan);
  }

  recover(settle: 'continue' | 'stop' = 'continue', fault?: string): Promise<void> {
    return recoverRun(this.toolbox(fault), this.directory, settle, owner);
  }

  snapshot(): Promise<RunSnapshot> {
    return this.#store.read(this.runId);
  }

  /** @param withinMs milliseconds it may take */
  end(withinMs = END_MS): Promise<RunSnapshot> {
    return waitForEnd(this.#store, this.runId, { signal: AbortSignal.timeout(withinMs) });
  }

  result(): Promise<WorkflowResultFile | undefined> {
    return readWorkflowResult(this.directory);
  }

  async receipt(): Promise<Record<string, unknown>> {
    return JSON.parse(await readFile(join(this.directory, 'receipt.json'), 'utf8'));
  }

  async lines(): Promise<JournalLine[]> {
    return (await readJournal(runLayout(this.directory).journal)).lines;
  }

  async all<T extends JournalLine['type']>(type: T): Promise<Of<T>[]> {
    return (await this.lines()).filter((line): line is Of<T> => line.type === type);
  }

  event<T extends JournalLine['type']>(type: T, fits: (line: Of<T>) => boolean = () => true): Promise<Of<T>> {
    return waitFor(`the event ${type} of ${this.runId}`, async () => (await this.all(type)).find(fits), {
      timeoutMs: 30_000,
    });
  }

  /** Pid of the runner that has the run now. */
  async runner(): Promise<number> {
    const { owner: holder } = await inspectLock(runLayout(this.directory).lease);
    if (!holder) throw new Error('nobody has the run');
    return holder.process.pid;
  }

  async killRunner(): Promise<void> {
    const pid = await this.runner();
    process.kill(pid, 'SIGKILL');
    await waitFor('the runner to be gone', () => !isAlive(pid));
  }

  /** The runner that was told to die somewhere has. @param withinMs milliseconds it may take */
  async runnerGone(withinMs = END_MS): Promise<void> {
    const pid = await waitFor('the lease', () => this.runner());
    await waitFor(`the runner ${pid} to be gone`, () => !isAlive(pid), { timeoutMs: withinMs });
  }
}
