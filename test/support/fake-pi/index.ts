import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isAlive } from '../process-state.ts';
import { projectRoot } from '../project-root.ts';
import { waitFor } from '../wait-for.ts';
import type { FakeLaunch, FakeLaunchPlan, FakeTask } from './plan.ts';

export type * from './plan.ts';

export interface FakePiOptions {
  /** The package folder to make; what `piLanes.pi.path` is set to. Created if it is not there. */
  dir: string;
  /** Decides which protocol it speaks: below 0.80.4 the old one, without `agent_settled`. Default 1.6.0. */
  version?: string;
  packageName?: '@earendil-works/pi-coding-agent' | '@mariozechner/pi-coding-agent';
  /** How its processes start; see `planLaunches`. */
  launch?: FakeLaunchPlan;
}

const launchSchema = z.strictObject({
  n: z.int().min(1),
  kind: z.enum(['child', 'probe', 'query']),
  pid: z.int(),
  args: z.array(z.string()),
  cwd: z.string(),
  env: z.array(z.string()),
});
const processSchema = z.strictObject({ kind: z.string(), pid: z.int() });

/**
 * Makes a folder that looks like an installed Pi and is a program that does what the task says; see `plan.ts` for the
 * language. Nothing in the folder points out of it: it can be moved.
 */
export async function createFakePi(options: FakePiOptions): Promise<FakePi> {
  const { dir, version = '1.6.0', packageName = '@earendil-works/pi-coding-agent', launch } = options;
  const program = join(projectRoot(), 'test', 'support', 'fake-pi', 'program');
  await mkdir(dir, { recursive: true });
  await cp(program, join(dir, 'dist'), { recursive: true });
  await chmod(join(dir, 'dist', 'cli.mjs'), 0o755);
  const manifest = { name: packageName, version, type: 'module', bin: { pi: 'dist/cli.mjs' } };
  await writeFile(join(dir, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const fake = new FakePi(dir, version);
  if (launch) await fake.planLaunches(launch);
  made.add(fake);
  return fake;
}

const made = new Set<FakePi>();

/** As if no gate had been opened or reached: what another try of the same test needs. */
export async function closeAllGates(): Promise<void> {
  await Promise.all([...made].map((fake) => fake.closeGates()));
}

export class FakePi implements AsyncDisposable {
  /** The package folder. */
  readonly folder: string;
  /** The script, for Node to run. It may also be started directly, or linked to as `pi`. */
  readonly cli: string;
  readonly version: string;
  readonly #state: string;

  constructor(folder: string, version: string) {
    this.folder = folder;
    this.cli = join(folder, 'dist', 'cli.mjs');
    this.version = version;
    this.#state = join(folder, 'state');
  }

  /** How processes start from now on. `PI_LANES_FAKE_PLAN` in a process's environment wins over it. */
  async planLaunches(plan: FakeLaunchPlan): Promise<void> {
    await mkdir(this.#state, { recursive: true });
    const half = join(this.#state, 'launch-plan.half');
    await writeFile(half, JSON.stringify(plan));
    await rename(half, join(this.#state, 'launch-plan.json'));
  }

  /** Every start there was: children first, each kind in its order. */
  async launches(kind?: FakeLaunch['kind']): Promise<FakeLaunch[]> {
    const all = (await readAll(join(this.#state, 'counts'), /^launch-.*\.json$/)).map((one) => launchSchema.parse(one));
    return all
      .filter((one) => kind === undefined || one.kind === kind)
      .sort((a, b) => a.kind.localeCompare(b.kind) || a.n - b.n);
  }

  /** Waits until a process is at the step `{ gate: name }`. */
  async arrivedAt(name: string): Promise<void> {
    await waitFor(`a fake pi at the gate ${name}`, () => existsSync(join(this.#state, 'gates', `${name}.waiting`)));
  }

  /** Opens a gate for everybody who is there or comes later. */
  async open(name: string): Promise<void> {
    await mkdir(join(this.#state, 'gates'), { recursive: true });
    await writeFile(join(this.#state, 'gates', `${name}.open`), '');
  }

  /** Forgets which gates are open and who was at them. */
  async closeGates(): Promise<void> {
    await rm(join(this.#state, 'gates'), { recursive: true, force: true });
  }

  /** Process ids of fakes and of their grandchildren that still run. */
  async running(): Promise<number[]> {
    const all = (await readAll(join(this.#state, 'processes'), /\.json$/)).map((one) => processSchema.parse(one).pid);
    const alive = await Promise.all(all.map(async (pid) => isAlive(pid) && (await this.#isOurs(pid))));
    return all.filter((_, index) => alive[index]).sort((a, b) => a - b);
  }

  /** Ends what is left over and says what that was. The folder stays. Safe to call twice. */
  async cleanup(): Promise<number[]> {
    const left = await this.running();
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended by itself meanwhile.
      }
    }
    await waitFor('the end of every fake pi', () => !left.some(isAlive));
    return left;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cleanup();
  }

  /** The number may belong to somebody else by now: on Linux the command line tells. */
  async #isOurs(pid: number): Promise<boolean> {
    if (process.platform !== 'linux') return true;
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return commandLine.includes(join(this.folder, 'dist'));
  }
}

/** A task for a child: the plan, behind what a person would have written. */
export function fakeTask(plan: FakeTask, text = ''): string {
  return `${text}${text === '' ? '' : '\n'}FAKE:${JSON.stringify(plan)}`;
}

/** What to add to the environment so that every Pi below starts by this plan. */
export function fakeEnvironment(plan: FakeLaunchPlan): Record<'PI_LANES_FAKE_PLAN', string> {
  return { PI_LANES_FAKE_PLAN: JSON.stringify(plan) };
}

async function readAll(folder: string, wanted: RegExp): Promise<unknown[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => wanted.test(name));
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8'))));
}
