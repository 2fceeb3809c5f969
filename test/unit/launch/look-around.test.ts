/** What of a launch depends on the disk: files, skills, extensions, memory. */
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toContract } from '../../../src/core/agents/index.ts';
import { lookAround } from '../../../src/core/launch/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { agentIn, withFields, write } from '../agents/definitions.ts';

let folder: TempDir;
let project: string;
let agentDir: string;
let home: string;
beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  home = await realpath(folder.path);
  project = join(home, 'work');
  agentDir = join(home, '.pi', 'agent');
  await mkdir(join(project, '.pi'), { recursive: true });
});
afterEach(() => folder.remove());

const look = (fields: string[], trust: 'approve' | 'no-approve' = 'approve', skill?: string[] | boolean) =>
  lookAround({
    agent: toContract(agentIn(withFields(...fields))),
    skill,
    cwd: project,
    agentDir,
    home,
    trust,
    progressFile: join(home, 'progress.md'),
  });

describe('what lies around a launch', () => {
  it('are the files it is to read that are there, by its folder', async () => {
    await write(project, { 'plan.md': 'x', 'folder/in.md': 'x' });
    const { reads } = await look([`defaultReads: plan.md, none.md, folder, folder/in.md, ${join(project, 'plan.md')}`]);
    expect(reads).toEqual([join(project, 'plan.md'), join(project, 'folder', 'in.md'), join(project, 'plan.md')]);
  });

  it('are notes that somebody has begun', async () => {
    expect((await look([])).hasProgress).toBe(false);
    await write(home, { 'progress.md': 'x' });
    expect((await look([])).hasProgress).toBe(true);
  });

  it('are extensions whose files are gone; what has no path is for Pi to find', async () => {
    await write(home, { 'there.ts': '' });
    const paths = [join(home, 'there.ts'), join(home, 'gone.ts'), 'npm:package'];
    expect((await look([`extensions: ${paths.join(', ')}`])).missingExtensions).toEqual([join(home, 'gone.ts')]);
  });
});

describe('a skill', () => {
  const skill = (name: string) => `---\nname: ${name}\ndescription: d\n---\n`;

  it('comes from the agent, then the project, then the user, by the names of folders', async () => {
    await write(home, {
      'own/knots/SKILL.md': skill('knots'),
      'work/.pi/skills/knots/SKILL.md': skill('knots'),
      'work/.pi/skills/sails/SKILL.md': skill('sails'),
      '.pi/agent/skills/sails/SKILL.md': skill('sails'),
      '.pi/agent/skills/oars.md': skill('oars'),
      '.agents/skills/nets/SKILL.md': skill('nets'),
      'more/ropes/SKILL.md': skill('ropes'),
      '.pi/agent/settings.json': JSON.stringify({ skills: ['~/more'] }),
    });
    const { skills, missingSkills } = await look([
      'skills: knots, sails, oars, nets, ropes, ghosts, ../more/ropes, pi-subagents',
      `skillPath: ${join(home, 'own')}`,
    ]);
    expect(Object.fromEntries(skills.map(({ name, path }) => [name, path]))).toEqual({
      knots: join(home, 'own', 'knots'),
      sails: join(project, '.pi', 'skills', 'sails'),
      oars: join(agentDir, 'skills', 'oars.md'),
      nets: join(home, '.agents', 'skills', 'nets'),
      ropes: join(home, 'more', 'ropes'),
    });
    expect(missingSkills).toEqual(['ghosts', '../more/ropes']);
  });

  it('of a project that nobody trusts is not there', async () => {
    await write(project, { '.pi/skills/knots/SKILL.md': skill('knots') });
    expect((await look(['skills: knots'], 'no-approve')).missingSkills).toEqual(['knots']);
  });

  it('can be named by the call instead, or none', async () => {
    await write(agentDir, { 'skills/oars/SKILL.md': skill('oars'), 'skills/nets/SKILL.md': skill('nets') });
    expect((await look(['skills: oars'], 'approve', ['nets'])).skills.map(({ name }) => name)).toEqual(['nets']);
    expect((await look(['skills: oars'], 'approve', false)).skills).toEqual([]);
    expect((await look(['skills: oars'], 'approve', true)).skills).toHaveLength(1);
  });
});

describe('what an agent remembers', () => {
  const memory = async (scope: string, trust: 'approve' | 'no-approve' = 'approve') =>
    (await look([`memory: {scope: ${scope}, path: notes/deep}`], trust)).memory;

  it('is a file of the user or of the project, which need not be there', async () => {
    const file = join(agentDir, 'agent-memory', 'notes', 'deep', 'MEMORY.md');
    expect(await memory('user')).toEqual({ file, text: null });
    await write(agentDir, { 'agent-memory/notes/deep/MEMORY.md': 'blue\r\nred\n' });
    expect(await memory('user')).toEqual({ file, text: 'blue\nred' });
    const own = join(project, '.pi', 'agent-memory', 'notes', 'deep', 'MEMORY.md');
    expect(await memory('project')).toEqual({ file: own, text: null });
    expect(await memory('project', 'no-approve')).toBeNull();
  });

  it('is cut to its first 200 lines and 16 KiB, in whole lines where that can be', async () => {
    await write(agentDir, {
      'agent-memory/notes/deep/MEMORY.md': Array.from({ length: 300 }, (_, at) => `line ${at}`).join('\n'),
    });
    expect((await memory('user'))?.text).toMatch(/line 199$/);
    await write(agentDir, { 'agent-memory/notes/deep/MEMORY.md': `short\n${'é'.repeat(20_000)}` });
    expect((await memory('user'))?.text).toBe('short');
    await write(agentDir, { 'agent-memory/notes/deep/MEMORY.md': `x${'é'.repeat(20_000)}` });
    const text = (await memory('user'))?.text ?? '';
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16 * 1024);
    expect(text).toMatch(/é$/);
  });

  it.skipIf(process.platform === 'win32')('never lies outside of its folder', async () => {
    await write(home, { 'secret/MEMORY.md': 'secret', 'secret/deep/MEMORY.md': 'secret' });
    await mkdir(join(agentDir, 'agent-memory'), { recursive: true });
    await symlink(join(home, 'secret'), join(agentDir, 'agent-memory', 'notes'));
    expect(await memory('user')).toBeNull();
    await symlink(join(home, 'secret'), join(project, '.pi', 'agent-memory'));
    expect(await memory('project')).toBeNull();
    await writeFile(join(home, 'other'), '');
  });
});
