/** The plan of a launch before it starts, also of one that will be refused. Nothing is written, nothing is started. */
import type * as vscode from 'vscode';
import { foreseeLaunch } from '../../client/index.ts';
import { checkoutOf, mayWrite, writerIn } from '../../core/checkouts/index.ts';
import { type ErrorValue, toErrorValue, type Writers } from '../../protocol/index.ts';
import { defaultModel } from '../configuration.ts';
import type { Services } from '../services.ts';
import type { Draft } from './draft.ts';
import { launchRequest } from './launch-request.ts';
import type { Workplace } from './workplaces.ts';

export type AgentPlan = Awaited<ReturnType<typeof foreseeLaunch>>;

export interface AgentForecast {
  /** Null: it is refused before anything can be told. */
  plan: AgentPlan | null;
  /** Why the launch will be refused. */
  problem: ErrorValue | null;
  workplace: Workplace;
  /** The setting that a model comes from which neither person nor agent names. */
  defaultModel: string | undefined;
  /** Who changes files there now, so that it has to wait or will be refused; absent: nobody, or that does not matter to it. */
  writer?: { owner: string; writers: Writers };
  /** What Pi takes when nobody names a model, as far as it is known. */
  piDefault: string | null;
}

/** @param draft a task that is still empty is planned all the same */
export async function foreseeAgent(
  services: Services,
  folder: vscode.WorkspaceFolder,
  draft: Draft & { agent: string },
  workplace: Workplace,
): Promise<AgentForecast> {
  const told = { workplace, defaultModel: defaultModel(folder.uri), piDefault: await piDefault(services) };
  const planned = draft.task.trim() === '' ? { ...draft, task: '…' } : draft;
  const foresee = async (where: Workplace) =>
    foreseeLaunch(services.toolbox, launchRequest(services, folder, planned, where));
  try {
    const plan = await foresee(workplace);
    const writer = workplace.kind === 'folder' ? await writerBefore(services, plan) : undefined;
    return { ...told, plan, problem: null, ...(writer && { writer }) };
  } catch (error) {
    const problem = toErrorValue(error);
    if (workplace.kind === 'folder') return { ...told, plan: null, problem };
    // What does not hang on the worktree can be told all the same.
    const plan = await foresee({ kind: 'folder' }).catch(() => null);
    return { ...told, plan, problem };
  }
}

async function piDefault({ toolbox }: Services): Promise<string | null> {
  try {
    const { models } = await toolbox.tools();
    return (await models.usable()).defaultModel;
  } catch {
    // Whatever is missing is told as the problem of the launch.
    return null;
  }
}

/** As the runner asks, which is the one that decides it. */
async function writerBefore({ toolbox }: Services, { record }: AgentPlan): Promise<AgentForecast['writer']> {
  const { writers = 'wait' } = record;
  if (writers === 'any' || !mayWrite(record.child.agent)) return undefined;
  const checkout = await checkoutOf(record.cwd);
  const owner = checkout === undefined ? undefined : await writerIn(toolbox.root.checkouts, checkout);
  return owner === undefined ? undefined : { owner, writers };
}
