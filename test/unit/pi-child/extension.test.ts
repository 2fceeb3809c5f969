/** The extension in a child, with a Pi that only remembers what is registered with it. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import piChild from '../../../src/pi/child/main.ts';
import type { BeforeAgentStart, PiContext, PiTool } from '../../../src/pi/child/pi.ts';
import { type ChildContract, CONTRACT_ENV, REPORT_KEY } from '../../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';

interface Happening {
  toolName: string;
  input?: unknown;
  content: readonly unknown[];
  systemPrompt: string;
  systemPromptOptions?: BeforeAgentStart['systemPromptOptions'];
}
type Handler = (event: Happening, context: PiContext) => unknown;

class FakePi {
  readonly handlers: [string, Handler][] = [];
  readonly tools: PiTool[] = [];
  /** Tools that others have brought. */
  others: string[] = [];
  readonly statuses: [string, string][] = [];
  /** What a person was asked, and says to it. */
  readonly asked: [string, string][] = [];
  allows = false;
  active: string[] | undefined;

  on(event: string, handler: Handler): void {
    this.handlers.push([event, handler]);
  }

  registerTool(tool: PiTool): void {
    this.tools.push(tool);
  }

  getAllTools(): { name: string }[] {
    return [...this.tools.map(({ name }) => name), ...this.others].map((name) => ({ name }));
  }

  getActiveTools(): string[] {
    return this.active ?? this.getAllTools().map(({ name }) => name);
  }

  setActiveTools(names: string[]): void {
    this.active = names;
  }

  /** The first answer of a handler, as Pi takes it. */
  emit(event: string, data: Partial<Happening> = {}): unknown {
    const ui = {
      setStatus: (key: string, text: string) => this.statuses.push([key, text]),
      confirm: async (title: string, message: string) => {
        this.asked.push([title, message]);
        return this.allows;
      },
    };
    for (const [name, handler] of this.handlers) {
      const answer =
        name === event ? handler({ toolName: '', content: [], systemPrompt: '', ...data }, { ui }) : undefined;
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  get reports(): unknown[] {
    return this.statuses.map(([key, text]) => (key === REPORT_KEY ? JSON.parse(text) : key));
  }
}

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir();
});
afterEach(async () => {
  delete process.env[CONTRACT_ENV];
  Reflect.deleteProperty(globalThis, Symbol.for('pi-lanes.contract'));
  await folder.remove();
});

async function load(contract: ChildContract): Promise<FakePi> {
  const file = join(folder.path, 'contract.json');
  await writeFile(file, JSON.stringify(contract));
  process.env[CONTRACT_ENV] = file;
  const pi = new FakePi();
  piChild(pi);
  return pi;
}

const call = (toolName: string) => ({ toolName });

describe('the extension in a child', () => {
  it('does nothing in a Pi that no runner started', () => {
    const pi = new FakePi();
    piChild(pi);
    expect([pi.handlers, pi.tools]).toEqual([[], []]);
  });

  it('takes its contract out of the environment before it returns', async () => {
    await load({ tools: [] });
    expect(process.env).not.toHaveProperty(CONTRACT_ENV);
  });

  it('keeps to its contract when Pi loads it again in the same process', async () => {
    await load({ tools: ['read'] });
    const again = new FakePi();
    piChild(again);
    expect(again.emit('tool_call', call('write'))).toMatchObject({ block: true });
  });

  it('does not load without the contract it was promised', () => {
    process.env[CONTRACT_ENV] = join(folder.path, 'none.json');
    expect(() => piChild(new FakePi())).toThrow('ENOENT');
    expect(process.env).not.toHaveProperty(CONTRACT_ENV);
  });

  it('refuses what is not on the list, whoever made it callable, and never the tool of the answer', async () => {
    const pi = await load({ tools: ['read', 'grep'] });
    expect(pi.emit('tool_call', call('read'))).toBeUndefined();
    expect(pi.emit('tool_call', call('structured_output'))).toBeUndefined();
    expect(pi.emit('tool_call', call('teleport'))).toEqual({
      block: true,
      reason: 'This agent may not use teleport: its tools are read, grep.',
    });
    const none = await load({ tools: [] });
    expect(none.emit('tool_call', call('read'))).toMatchObject({
      reason: expect.stringContaining('it may use no tools'),
    });
  });

  it('refuses nothing where there is no list', async () => {
    const pi = await load({});
    expect(pi.emit('tool_call', call('teleport'))).toBeUndefined();
    expect(pi.emit('input')).toBeUndefined();
  });

  it('lets nothing begin while a tool of the list does not exist', async () => {
    const pi = await load({ tools: ['read', 'teleport'] });
    pi.others = ['read', 'bash'];
    expect(pi.emit('input')).toEqual({ action: 'handled' });
    expect(pi.reports).toEqual([{ type: 'tools-missing', tools: ['teleport'] }]);
    // Another extension has brought it meanwhile.
    pi.others.push('teleport');
    expect(pi.emit('input')).toBeUndefined();
  });

  it('reports a call that the budget refuses, and nudges in the next result only', async () => {
    const pi = await load({ toolBudget: { soft: 1, hard: 1 } });
    expect(pi.emit('tool_result', { content: [] })).toBeUndefined();
    expect(pi.emit('tool_call', call('bash'))).toBeUndefined();
    const result = pi.emit('tool_result', { content: ['was there'] });
    expect(result).toEqual({ content: ['was there', { type: 'text', text: expect.stringContaining('1 of 1') }] });
    expect(pi.emit('tool_result', { content: [] })).toBeUndefined();
    expect(pi.reports).toEqual([]);
    expect(pi.emit('tool_call', call('read'))).toMatchObject({ block: true });
    expect(pi.reports).toEqual([{ type: 'tool-budget-blocked' }]);
  });

  it('does not count what the list refuses against the budget', async () => {
    const pi = await load({ tools: ['read'], toolBudget: { hard: 1 } });
    pi.emit('tool_call', call('write'));
    expect(pi.emit('tool_call', call('read'))).toBeUndefined();
  });

  it('takes a value that fits, once it is kept, and ends the work with it', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const file = join(folder.path, 'value.json');
    const pi = await load({ output: { schema, file } });
    pi.emit('session_start');
    const [tool] = pi.tools;
    expect(tool).toMatchObject({ name: 'structured_output', parameters: schema });
    await expect(tool?.execute('1', { n: 'x' })).rejects.toThrow('/n: expected integer, got string');
    await expect(readValue(file)).rejects.toThrow('ENOENT');
    expect(await tool?.execute('2', { n: 1 })).toMatchObject({ terminate: true });
    expect(await readValue(file)).toEqual({ n: 1 });
    // Given again: the newest counts.
    await tool?.execute('3', { n: 2 });
    expect(await readValue(file)).toEqual({ n: 2 });
  });

  it('does not say that a value was taken which could not be kept', async () => {
    const file = join(folder.path, 'no such folder', 'value.json');
    const pi = await load({ output: { schema: { type: 'object' }, file } });
    pi.emit('session_start');
    await expect(pi.tools[0]?.execute('1', {})).rejects.toThrow('ENOENT');
  });
});

async function readValue(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, 'utf8'));
}

describe('bounds of what a child may use', () => {
  it('take tools out of what the model is told, when it starts and before it is spoken to', async () => {
    const pi = await load({ deniedTools: ['edit'], onlyTools: ['read', 'edit', 'lamp'] });
    pi.others = ['read', 'bash', 'edit'];
    pi.emit('session_start');
    expect(pi.active).toEqual(['read']);
    pi.active = ['read', 'lamp', 'horn'];
    expect(pi.emit('input')).toBeUndefined();
    expect(pi.active).toEqual(['read', 'lamp']);
  });

  it('refuse what is called all the same, but never the answer', async () => {
    const pi = await load({ deniedTools: ['edit'], onlyTools: ['read'] });
    expect(await pi.emit('tool_call', { toolName: 'edit' })).toEqual({
      block: true,
      reason: 'This agent may not use edit.',
    });
    expect(await pi.emit('tool_call', { toolName: 'bash' })).toMatchObject({ block: true });
    for (const toolName of ['read', 'structured_output'])
      expect(await pi.emit('tool_call', { toolName }), toolName).toBeUndefined();
  });

  it('ask a person about each call of some, showing what it is made with, secrets taken out', async () => {
    const pi = await load({ askedTools: ['write'] });
    const call = { toolName: 'write', input: { path: 'a.txt', content: `ghp_${'a'.repeat(36)}${'x'.repeat(5000)}` } };
    expect(await pi.emit('tool_call', call)).toEqual({
      block: true,
      reason: 'A person has not allowed this call of write.',
    });
    const [[title = '', message = ''] = []] = pi.asked;
    expect(title).toBe('May it use write?');
    expect(message).toContain('"path": "a.txt"');
    expect(message).not.toContain('ghp_');
    expect(message.length).toBeLessThanOrEqual(2048);
    pi.allows = true;
    expect(await pi.emit('tool_call', call)).toBeUndefined();
    expect(await pi.emit('tool_call', { toolName: 'read' })).toBeUndefined();
    expect(pi.asked).toHaveLength(2);
  });
});

describe('what the person says to all agents', () => {
  const global = () => ({ path: join(folder.path, 'AGENTS.md'), content: 'Whistle. $& $1' });
  const project = { path: '/work/AGENTS.md', content: 'Never hurry.' };
  const before = process.env['PI_CODING_AGENT_DIR'];
  beforeEach(() => {
    process.env['PI_CODING_AGENT_DIR'] = `${folder.path}/`;
  });
  afterEach(() => {
    if (before === undefined) delete process.env['PI_CODING_AGENT_DIR'];
    else process.env['PI_CODING_AGENT_DIR'] = before;
  });

  it('is taken out of what the prompt is made of', async () => {
    const pi = await load({ withoutGlobalContext: true });
    const options = { contextFiles: [global(), project], sections: {} };
    expect(pi.emit('before_agent_start', { systemPrompt: 'x', systemPromptOptions: options })).toBeUndefined();
    expect(options.contextFiles).toEqual([project]);
  });

  it.each([
    [
      '0.80',
      (file: { path: string; content: string }) =>
        `<project_instructions path="${file.path}">\n${file.content}\n</project_instructions>\n\n`,
    ],
    ['0.73', (file: { path: string; content: string }) => `## ${file.path}\n\n${file.content}\n\n`],
  ])('is taken out of the prompt of Pi %s, and nothing else is', async (_, block) => {
    const pi = await load({ withoutGlobalContext: true });
    const systemPrompt = `Before. ${block(global())}${block(project)}After.`;
    const options = { contextFiles: [global(), project] };
    expect(pi.emit('before_agent_start', { systemPrompt, systemPromptOptions: options })).toEqual({
      systemPrompt: `Before. ${block(project)}After.`,
    });
  });

  it('stays where the agent wants it, and nothing is changed where there is none', async () => {
    const options = { contextFiles: [global(), project], sections: {} };
    const open = await load({});
    expect(open.emit('before_agent_start', { systemPromptOptions: options })).toBeUndefined();
    expect(options.contextFiles).toHaveLength(2);
    const pi = await load({ withoutGlobalContext: true });
    expect(
      pi.emit('before_agent_start', { systemPrompt: 'x', systemPromptOptions: { contextFiles: [project] } }),
    ).toBeUndefined();
    expect(pi.emit('before_agent_start', { systemPrompt: 'x' })).toBeUndefined();
  });
});
