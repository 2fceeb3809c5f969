/** What of a launch depends on what lies on the disk now: looked up here, so that the plan itself is pure. */
import { stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import type { AgentContract, ChildPlan } from '../../protocol/index.ts';
import { findProjectRoot } from '../agents/index.ts';
import { readMemory } from './memory.ts';
import { findSkills, type Skill } from './skills.ts';

export interface LookRequest {
  agent: AgentContract;
  /** As the call has it. */
  skill?: readonly string[] | boolean | undefined;
  /** Absolute. */
  cwd: string;
  agentDir: string;
  home: string;
  /** Without approval nothing of the project is looked at, beside files the agent is to read. */
  trust: 'approve' | 'no-approve';
  progressFile: string;
}

export interface Surroundings {
  /** Files of `defaultReads` that are there, absolute. */
  reads: readonly string[];
  skills: readonly Skill[];
  missingSkills: readonly string[];
  /** Files of extensions that are not there. */
  missingExtensions: readonly string[];
  /** Null: the agent has none, or it lies where it may not. */
  memory: Omit<NonNullable<ChildPlan['memory']>, 'isWritable'> | null;
  /** Somebody keeps notes in this run already. */
  hasProgress: boolean;
}

export async function lookAround(request: LookRequest): Promise<Surroundings> {
  const { agent, skill, cwd, agentDir, home, trust, progressFile } = request;
  const project = trust === 'approve' ? await findProjectRoot(cwd, home) : undefined;
  const wanted = skill === false ? [] : Array.isArray(skill) ? skill : (agent.skills ?? []);
  const files = (agent.defaultReads ?? []).map((path) => resolve(cwd, path));
  const extensions = [...(agent.extensions ?? []), ...(agent.subagentOnlyExtensions ?? [])];
  const places = { own: agent.skillPath ?? [], project: project?.path, agentDir, home };
  const [reads, found, missingExtensions, memory, hasProgress] = await Promise.all([
    filtered(files, isFile),
    findSkills(wanted, places),
    // What has no path may be a package, which Pi knows how to find.
    filtered(
      extensions.filter((path) => isAbsolute(path)),
      async (path) => !(await exists(path)),
    ),
    agent.memory ? readMemory(agent.memory, { project: project?.path, agentDir }) : null,
    exists(progressFile),
  ]);
  return { reads, skills: found.skills, missingSkills: found.missing, missingExtensions, memory, hasProgress };
}

/** Where notes of a whole run stand. */
export function progressFileOf(artifacts: string): string {
  return join(artifacts, 'progress.md');
}

async function filtered(paths: readonly string[], fits: (path: string) => Promise<boolean>): Promise<string[]> {
  const verdicts = await Promise.all(paths.map(fits));
  return paths.filter((_, at) => verdicts[at]);
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isFile(),
    () => false,
  );
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
