/** Having a run whose runner is gone put in order by a new runner: continued exactly, or ended. */
import { access, constants, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { projectLayout } from '../core/projects/index.ts';
import { RunReader, readLaunchRecord } from '../core/runs/index.ts';
import {
  isTerminal,
  LanesError,
  type LaunchRecord,
  lanesError,
  type Owner,
  type RunView,
  type WorkflowBounds,
} from '../protocol/index.ts';
import { startRunner } from './runner-process.ts';
import { ensureRuntime } from './runtime.ts';
import type { Toolbox } from './toolbox.ts';

/** The store's folders around a run folder. */
export function projectOf(directory: string) {
  return projectLayout(dirname(dirname(directory)));
}

/**
 * Resolves when the new runner owns the run. `bounds`: within which a workflow, ended or not, is to go on. Throws `lock_held` when somebody else
 * took it over first.
 */
export async function recoverRun(
  toolbox: Toolbox,
  directory: string,
  settle: 'continue' | 'stop',
  by: Owner,
  bounds?: WorkflowBounds,
): Promise<void> {
  const record = await readLaunchRecord(directory);
  const own = join(toolbox.root.runtime, record.runtime, 'runner.mjs');
  // The bundle the run was started with, if it is still there: it knows the run best.
  const runner = (await exists(own)) ? own : (await ensureRuntime(toolbox.distDirectory, toolbox.root)).runner;
  const node = await nodeOf(toolbox, record);
  const order = {
    kind: 'recover' as const,
    runId: basename(directory),
    projectDirectory: projectOf(directory).directory,
    settle,
    by,
    ...(bounds ? { bounds } : {}),
  };
  const before = bounds ? (await RunReader.open(directory)).view : undefined;
  try {
    const { peer } = await startRunner(
      toolbox,
      { node: node.file, runner, electron: node.electron },
      projectOf(directory),
      order,
    );
    peer.close();
  } catch (error) {
    // The new runner says so itself, in what it prints: it finds the lease held and leaves.
    if (error instanceof LanesError && error.message.includes('lease is in use by')) {
      throw lanesError('lock_held:taken-over');
    }
    // What was left to do may be done, and the new runner gone, before it could be reached.
    const { view } = await RunReader.open(directory);
    const isAnotherEnd = !before || !isTerminal(before.state) || timesContinued(view) > timesContinued(before);
    if (isTerminal(view.state) && isAnotherEnd) return;
    throw error;
  }
}

function timesContinued({ workflow }: RunView): number {
  return workflow?.continued ?? 0;
}

/** The Node the run was started with, so that nothing that was configured since keeps it from being put in order. */
async function nodeOf(toolbox: Toolbox, { node }: LaunchRecord): Promise<{ file: string; electron: boolean }> {
  const isThere = await access(node, constants.X_OK).then(
    () => true,
    () => false,
  );
  // It may be an editor's own executable. A Node takes no notice of what tells that one to be a Node.
  return isThere ? { file: node, electron: true } : toolbox.node();
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
