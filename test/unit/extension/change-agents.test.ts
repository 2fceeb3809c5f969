/** Changes of agents from rows of the Library: what is asked, what is written, and what taking back takes back. */
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentChanges, AgentDiscovery } from '../../../src/core/agents/index.ts';
import { deleteAgent, disableAgent, enableAgent, resetAgent } from '../../../src/extension/commands/change-agents.ts';
import { agentRows } from '../../../src/extension/library/library-layout.ts';
import type { Services } from '../../../src/extension/services.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { waitFor } from '../../support/wait-for.ts';
import { definition, write } from '../agents/definitions.ts';
import * as editor from './vscode-stand-in.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

let temp: TempDir;
let home: string;
let agentDir: string;
let project: string;
let services: Services;
let told: string[];
/** The button that is pressed on the next notification, once it is let go. */
let pressed: Promise<string | undefined>;

beforeEach(async () => {
  temp = await tempDir();
  home = join(temp.path, 'home');
  agentDir = join(home, '.pi', 'agent');
  project = join(home, 'harbour');
  await mkdir(project, { recursive: true });
  told = [];
  pressed = Promise.resolve(undefined);
  editor.picks.shown = [];
  editor.picks.answer = undefined;
  const say = (text: string) => {
    told.push(text);
    return pressed as Promise<undefined>;
  };
  vi.spyOn(editor.window, 'showInformationMessage').mockImplementation(say);
  vi.spyOn(editor.window, 'showErrorMessage').mockImplementation(say);
  const discovery = new AgentDiscovery();
  services = {
    toolbox: {
      agentDir,
      home,
      agentChanges: (cwd: string, projectTrusted: boolean) =>
        new AgentChanges(discovery, { cwd, agentDir, home, env: {}, projectTrusted }),
    },
    agents: { lookSoon: () => undefined },
    library: { meant: (clicked: unknown) => clicked },
    log: { error: () => undefined },
  } as unknown as Services;
});
afterEach(async () => {
  vi.restoreAllMocks();
  editor.workspace.isTrusted = true;
  await temp.remove();
});

async function row(name: string) {
  const found = await new AgentDiscovery().discover({ cwd: project, agentDir, home, env: {} });
  const folder = { name: 'harbour', uri: editor.Uri.file(project), index: 0 };
  const [first] = agentRows(found).filter((one) => one.name === name && one.state.kind !== 'hidden');
  if (!first) throw new Error(`no ${name}`);
  return { kind: 'agent', folder, row: first };
}
const state = async (name: string) => (await row(name)).row.state.kind;
const settings = async (folder: string): Promise<unknown> =>
  JSON.parse(await readFile(join(folder, 'settings.json'), 'utf8'));
const disabled = (name: string) => ({ subagents: { agentOverrides: { [name]: { disabled: true } } } });

describe('Disable', () => {
  it('does not ask where there is no project', async () => {
    await disableAgent(services, await row('oracle'));
    expect(editor.picks.shown).toEqual([]);
    expect(await settings(agentDir)).toEqual(disabled('oracle'));
    expect(told).toEqual(['oracle is disabled in all your projects.']);
    await enableAgent(services, await row('oracle'));
    expect(await state('oracle')).toBe('usable');
  });

  it('asks whose settings say it, and changes nothing when nobody answers', async () => {
    await mkdir(join(project, '.pi'));
    await disableAgent(services, await row('oracle'));
    expect(editor.picks.shown.map(([label]) => label)).toEqual(['This Project', 'All Your Projects']);
    expect([existsSync(join(agentDir, 'settings.json')), await state('oracle')]).toEqual([false, 'usable']);
    editor.picks.answer = 'This Project';
    await disableAgent(services, await row('oracle'));
    expect(await settings(join(project, '.pi'))).toEqual(disabled('oracle'));
    expect(told).toEqual(['oracle is disabled in this project.']);
  });

  it('of an agent of the project is said by the project', async () => {
    await write(project, { '.pi/agents/pilot.md': definition('pilot', 'Ours.') });
    await disableAgent(services, await row('pilot'));
    expect(editor.picks.shown).toEqual([]);
    expect(await settings(join(project, '.pi'))).toEqual(disabled('pilot'));
  });

  it('leaves a project alone that nobody trusts', async () => {
    await mkdir(join(project, '.pi'));
    editor.workspace.isTrusted = false;
    await disableAgent(services, await row('oracle'));
    expect(editor.picks.shown).toEqual([]);
    expect(await settings(agentDir)).toEqual(disabled('oracle'));
  });
});

describe('Reset', () => {
  it('asks when both the person and the project have changed it', async () => {
    await write(project, { '.pi/agents/scout.md': definition('scout', 'Ours.') });
    await write(agentDir, { 'agents/scout.md': definition('scout', 'Mine.') });
    await resetAgent(services, await row('scout'));
    expect(editor.picks.shown.map(([label]) => label)).toEqual(['This Project', 'All Your Projects']);
    expect(told).toEqual([]);
    editor.picks.answer = 'All Your Projects';
    await resetAgent(services, await row('scout'));
    const mine = join(agentDir, 'agents', 'scout.md');
    expect([existsSync(mine), (await row('scout')).row.group]).toEqual([false, 'project']);
    expect(told).toEqual([`scout is the original again. Changed: ${mine}`]);
  });
});

describe('Undo in a notification', () => {
  it('puts a deleted definition back', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine', 'Mine.') });
    const file = join(agentDir, 'agents', 'mine.md');
    let press: (title: string) => void = () => undefined;
    pressed = new Promise((resolve) => {
      press = resolve;
    });
    await deleteAgent(services, await row('mine'));
    expect([existsSync(file), told]).toEqual([false, [`mine was deleted: ${file}`]]);
    press('Undo');
    await waitFor('the definition', () => existsSync(file));
  });

  it('takes nothing else back when something was changed since', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine', 'Mine.') });
    let press: (title: string) => void = () => undefined;
    pressed = new Promise((resolve) => {
      press = resolve;
    });
    await deleteAgent(services, await row('mine'));
    pressed = Promise.resolve(undefined);
    await disableAgent(services, await row('oracle'));
    press('Undo');
    await waitFor('the refusal', () => told.some((text) => text.includes('is not the latest one any more')));
    expect([await state('oracle'), existsSync(join(agentDir, 'agents', 'mine.md'))]).toEqual(['disabled', false]);
  });
});
