/** Workflows with a host that the test plays: every call is kept, and settles at once or when the test says so. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { executeWorkflowIn, replayWorkflowIn } from '../../../src/api/workflow-execution.ts';
import type {
  ExecuteWorkflowOptions,
  HostChildResult,
  WorkflowExecution,
  WorkflowHost,
} from '../../../src/api/workflow-execution-types.ts';
import { projectRoot } from '../../support/project-root.ts';

let built: Promise<string> | undefined;

/** The worker as it is shipped, built once for a test file. */
export function engineWorker(): Promise<string> {
  built ??= (async () => {
    const { buildEngineWorker } = await import(pathToFileURL(join(projectRoot(), 'esbuild.mjs')).href);
    const outdir = mkdtempSync(join(tmpdir(), 'pi-lanes-engine-'));
    process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
    await buildEngineWorker({ outdir });
    return join(outdir, 'engine-worker.mjs');
  })();
  return built;
}

export interface Launched {
  key: string;
  params: Record<string, unknown>;
  signal: AbortSignal;
  settle: (result: HostChildResult) => void;
  fail: (message: string) => void;
}

export interface Play extends WorkflowExecution {
  launched: Launched[];
  /** Keys in the order in which the host was asked. */
  keys: string[];
}

type Answer =
  | HostChildResult
  | Error
  | 'open'
  | ((call: Launched, all: Launched[]) => HostChildResult | Error | 'open');

export interface PlayOptions extends Partial<Omit<ExecuteWorkflowOptions, 'script' | 'host'>> {
  /** What becomes of children, by key; what is not named succeeds with `<key> done`. */
  children?: Record<string, Answer>;
  host?: Partial<WorkflowHost>;
  onLaunch?: (call: Launched, all: Launched[]) => void;
}

export const P = `{agent: 'worker', task: 't'}`;

export async function play(
  script: string,
  { children = {}, host = {}, onLaunch, ...options }: PlayOptions = {},
): Promise<Play> {
  const launched: Launched[] = [];
  const worker = await engineWorker();
  const result = await executeWorkflowIn(
    {
      script,
      ...options,
      host: {
        launch: ({ key, params, signal }) =>
          new Promise((resolve, reject) => {
            const call: Launched = {
              key,
              params,
              signal,
              settle: resolve,
              fail: (message) => reject(new Error(message)),
            };
            launched.push(call);
            const given = children[key] ?? { ok: true, output: `${key} done`, runId: `run-${key}` };
            const answer = typeof given === 'function' ? given(call, launched) : given;
            if (answer instanceof Error) reject(answer);
            else if (answer !== 'open') resolve(answer);
            onLaunch?.(call, launched);
          }),
        ...host,
      },
    },
    { worker },
  );
  return { ...result, launched, keys: launched.map(({ key }) => key) };
}

export async function replay(record: unknown) {
  return replayWorkflowIn(JSON.parse(JSON.stringify(record)), { worker: await engineWorker() });
}

/** Trace rows as `operation key state`. */
export function rows(execution: Pick<WorkflowExecution, 'trace'>): string[] {
  return execution.trace.map(({ operation, key, state }) => `${operation} ${key} ${state}`);
}
