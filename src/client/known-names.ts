/** What an agent can name on this machine: for whoever checks a definition, or helps somebody write one. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Known, unknownNames } from '../core/agent-language/index.ts';
import { findProjectRoot } from '../core/agents/index.ts';
import { listSkills, type Skill } from '../core/launch/index.ts';
import type { UsableModels } from '../core/models/index.ts';
import type { KnownTool } from '../core/tools/index.ts';
import type { AgentDiagnostic, LaunchRecord } from '../protocol/index.ts';
import type { Toolbox } from './toolbox.ts';

type KnownNames = Omit<Known, 'agents'>;

/** Skills by what lies on the disk; models and tools by asking Pi, and not at all where it cannot be asked. Never rejects. */
export async function knownNames(
  toolbox: Toolbox,
  { cwd, trust }: { cwd: string; trust: LaunchRecord['trust'] },
): Promise<KnownNames> {
  const [skills, asked] = await Promise.all([skillsFor(toolbox, cwd, trust), askPi(toolbox, cwd, trust)]);
  return { skills, ...asked };
}

/**
 * What an agent of a folder names and nobody has here. Pi is asked only for what the agent names, and nothing of the project is
 * started for it: where its extensions could bring tools, tools are not judged.
 */
export async function unknownNamesOf(toolbox: Toolbox, name: string, cwd: string): Promise<AgentDiagnostic[]> {
  const { agents } = await toolbox.discoverAgents(cwd);
  const agent = agents.find((one) => one.name === name);
  if (!agent) return [];
  const { model, fallbackModels = [], tools, excludeTools, permissions, toolBudget, skills, skillPath } = agent;
  const project = (await findProjectRoot(cwd, toolbox.home))?.path;
  const namesModels = model !== undefined || fallbackModels.length > 0;
  const namesTools = [tools, excludeTools, permissions, toolBudget].some((value) => value !== undefined);
  const isOwnPlace = project !== undefined && (await exists(join(project, '.pi', 'extensions')));
  const asked = namesModels || namesTools ? await askPi(toolbox, cwd, 'no-approve', namesTools && !isOwnPlace) : {};
  const known = skills === undefined ? {} : { skills: await skillsFor(toolbox, cwd, 'approve', skillPath) };
  return unknownNames(agent, { ...asked, ...known });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** @param own places of skills of an agent, absolute */
export async function skillsFor(
  { agentDir, home }: Toolbox,
  cwd: string,
  trust: LaunchRecord['trust'],
  own: readonly string[] = [],
): Promise<Skill[]> {
  const project = trust === 'approve' ? await findProjectRoot(cwd, home) : undefined;
  return listSkills({ own, project: project?.path, agentDir, home });
}

async function askPi(
  toolbox: Toolbox,
  cwd: string,
  trust: LaunchRecord['trust'],
  withTools = true,
): Promise<KnownNames> {
  const tools = await toolbox.tools().catch(() => undefined);
  if (!tools) return {};
  const registry = await tools.toolsIn(cwd, trust);
  const [usable, known]: [UsableModels | undefined, KnownTool[] | undefined] = await Promise.all([
    tools.models.usable().catch(() => undefined),
    withTools ? registry.usable().catch(() => undefined) : undefined,
  ]);
  return {
    ...(usable && { models: usable.models, defaultModel: usable.defaultModel }),
    ...(known && { tools: known }),
  };
}
