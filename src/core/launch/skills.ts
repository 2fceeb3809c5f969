/** Where the skills lie that an agent names. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { packageSkills } from '../agents/index.ts';
import { readRegular } from '../files/index.ts';

export interface Skill {
  name: string;
  /** As Pi takes it: a folder with `SKILL.md`, or a Markdown file. */
  path: string;
}

export interface SkillPlaces {
  /** Of the agent itself, absolute: skills, or folders of skills. */
  own: readonly string[];
  /** Root of a project that is trusted. */
  project: string | undefined;
  agentDir: string;
  home: string;
}

/** How runs are launched is the business of whoever launches them. */
const NOT_FOR_CHILDREN = ['pi-subagents', 'pi-lanes'];

const settings = z.looseObject({ skills: z.optional(z.array(z.string())) });

/** The strongest place comes first: the agent's own, the project's, the user's; packages come last of what is the project's or the user's. */
export async function findSkills(
  names: readonly string[],
  given: SkillPlaces,
): Promise<{ skills: Skill[]; missing: string[] }> {
  const wanted = [...new Set(names)].filter((name) => !NOT_FOR_CHILDREN.includes(name));
  if (wanted.length === 0) return { skills: [], missing: [] };
  const places = await placesOf(given);
  const skills: Skill[] = [];
  const missing: string[] = [];
  for (const name of wanted) {
    const path = await firstIn(places, name);
    if (path === undefined) missing.push(name);
    else skills.push({ name, path });
  }
  return { skills, missing };
}

/** Every skill that can be named, one of each name, in the order of their names. */
export async function listSkills(given: SkillPlaces): Promise<Skill[]> {
  const names = new Set<string>();
  for (const place of await placesOf(given)) {
    if (await isSkill(place)) names.add(basename(place).replace(/\.md$/, ''));
    for (const name of await namesIn(place)) names.add(name.replace(/\.md$/, ''));
  }
  return (await findSkills([...names].sort(), given)).skills;
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function placesOf({ own, project, agentDir, home }: SkillPlaces): Promise<string[]> {
  const user = join(agentDir, 'settings.json');
  const settings = project === undefined ? undefined : join(project, '.pi', 'settings.json');
  return [
    ...own,
    ...(project === undefined || settings === undefined
      ? []
      : [
          join(project, '.pi', 'skills'),
          join(project, '.agents', 'skills'),
          ...(await configured(settings, join(project, '.pi'), home)),
          ...(await packageSkills(settings, join(project, '.pi'), home)),
        ]),
    join(agentDir, 'skills'),
    join(home, '.agents', 'skills'),
    ...(await configured(user, agentDir, home)),
    ...(await packageSkills(user, agentDir, home)),
  ];
}

async function firstIn(places: readonly string[], name: string): Promise<string | undefined> {
  // A name is a folder's, and never leads anywhere else.
  if (/[\\/]/.test(name) || name.startsWith('.')) return undefined;
  for (const place of places) {
    const isItself = basename(place) === name || basename(place) === `${name}.md`;
    const candidates = [
      ...(isItself ? [place] : []),
      ...(basename(place) === 'SKILL.md' && basename(dirname(place)) === name ? [dirname(place)] : []),
      join(place, name),
      join(place, `${name}.md`),
    ];
    for (const path of candidates) if (await isSkill(path)) return path;
  }
  return undefined;
}

async function isSkill(path: string): Promise<boolean> {
  const file = path.endsWith('.md') ? path : join(path, 'SKILL.md');
  return stat(file).then(
    (info) => info.isFile(),
    () => false,
  );
}

/** Settings that cannot be read are told by whoever looks for agents. */
async function configured(file: string, base: string, home: string): Promise<string[]> {
  try {
    const parsed = settings.safeParse(JSON.parse((await readRegular(file)).replace(/^\uFEFF/, '')));
    return (parsed.data?.skills ?? []).map((path) => {
      if (/^~(?=$|[\\/])/.test(path)) return join(home, path.slice(1));
      return isAbsolute(path) ? path : resolve(base, path);
    });
  } catch {
    return [];
  }
}
