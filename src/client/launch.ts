/** Starts a run: a detached runner is spawned, given the launch record over its socket and told to proceed. */
import { explainDisk } from '../core/files/index.ts';
import { ensureProject, type Project, type ProjectLayout } from '../core/projects/index.ts';
import { type LaunchPlan, type LaunchRequest, planLaunch } from './plan.ts';
import { type NamedRequest, planNamedWorkflow, planWorkflow, type WorkflowRequest } from './plan-workflow.ts';
import { ANSWER_MS, startRunner } from './runner-process.ts';
import type { Toolbox } from './toolbox.ts';

export interface Launched {
  runId: string;
  /** Folder of the run. */
  directory: string;
  project: Project | ProjectLayout;
  /** Why its runner has no scope of systemd's, although the settings ask for one. */
  noScope?: string;
}

/** Plans and starts. Throws before anything exists when the request cannot be carried out. */
export async function launch(toolbox: Toolbox, request: LaunchRequest): Promise<Launched> {
  return startRun(toolbox, await planLaunch(toolbox, request));
}

/** The same for a workflow script. */
export async function launchWorkflow(toolbox: Toolbox, request: WorkflowRequest): Promise<Launched> {
  return startRun(toolbox, await planWorkflow(toolbox, request));
}

/** The same for a workflow that is known by its name. */
export async function launchNamedWorkflow(toolbox: Toolbox, request: NamedRequest): Promise<Launched> {
  return startRun(toolbox, await planNamedWorkflow(toolbox, request));
}

export async function startRun(
  toolbox: Toolbox,
  plan: LaunchPlan,
  options: { listenMs?: number } = {},
): Promise<Launched> {
  const { record, project } = plan;
  const layout = 'layout' in project ? project.layout : project;
  if ('layout' in project) {
    await ensureProject(project).catch((error: unknown) => {
      throw explainDisk(error);
    });
  }
  const program = { node: record.node, runner: plan.runtime.runner, electron: plan.electron };
  const order = { kind: 'new' as const, runId: record.runId, projectDirectory: layout.directory };
  const { peer, noScope, explain } = await startRunner(toolbox, program, layout, order, options).catch(
    (error: unknown) => {
      throw explainDisk(error);
    },
  );
  let ownsRun = false;
  try {
    const { runId, directory } = await peer.request('start', { record }, { deadlineMs: ANSWER_MS });
    // From here on the runner ends the run itself, as not confirmed, should we not come to tell it to proceed.
    ownsRun = true;
    await peer.request('proceed', {}, { deadlineMs: ANSWER_MS });
    return { runId, directory, project, ...(noScope === undefined ? {} : { noScope }) };
  } catch (error) {
    throw await explain(error, { ownsRun });
  } finally {
    peer.close();
  }
}
