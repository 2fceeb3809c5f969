import { describe, expect, it } from 'vitest';
import type { SessionStart } from '../../src/core/children/index.ts';
import { capabilitiesOf, piArguments } from '../../src/core/children/pi-rpc/arguments.ts';
import { toTranscriptEntry } from '../../src/core/children/pi-rpc/transcript-entries.ts';
import { systemPromptOf } from '../../src/core/launch/index.ts';
import { childLayout } from '../../src/core/projects/index.ts';
import type { ChildPlan, LaunchRecord } from '../../src/protocol/index.ts';
import { aRecord } from './builders/run.ts';

const layout = childLayout('/run', 1);

function argumentsFor(
  version: string,
  plan: Partial<ChildPlan> = {},
  trust: LaunchRecord['trust'] = 'no-approve',
  session: SessionStart = { kind: 'new' },
) {
  const { child, cwd, agentDir, pi } = aRecord();
  return piArguments(
    { plan: { ...child, ...plan }, session, cwd, trust, agentDir, pi: { ...pi, version }, layout },
    '/dist/pi-child.mjs',
  );
}

/** The value behind a flag. */
const behind = (args: readonly string[], flag: string) => args[args.indexOf(flag) + 1];

describe("Pi's arguments", () => {
  const plan = { model: 'fake/scripted', thinking: 'high', sessionName: 'worker · Fence' };
  const common = [
    ...['--mode', 'rpc', '--session-dir', layout.sessions, '-e', '/dist/pi-child.mjs'],
    ...['--model', 'fake/scripted', '--thinking', 'high'],
    ...['--tools', 'read,edit', '--system-prompt', layout.systemPrompt, '--no-skills'],
  ];

  const end = ['--approve', '--name', 'worker · Fence'];

  it.each<[string, LaunchRecord['trust'], string[]]>([
    ['1.6.0', 'approve', end],
    ['1.6.0', 'no-approve', ['--no-approve', '--name', 'worker · Fence']],
    ['0.80.10', 'no-approve', ['--no-approve', '--name', 'worker · Fence']],
    ['0.78.2', 'no-approve', ['--no-extensions', '--name', 'worker · Fence']],
    ['0.78.2', 'approve', ['--name', 'worker · Fence']],
    ['0.73.1', 'approve', []],
    // It knows no trust: project extensions must not load unasked.
    ['0.73.1', 'no-approve', ['--no-extensions']],
  ])('for %s with %s end with %j', (version, trust, rest) => {
    expect(argumentsFor(version, plan, trust)).toEqual([...common, ...rest]);
  });

  it.each<[SessionStart, string[]]>([
    [{ kind: 'new' }, []],
    // By its path: an id could belong to another project, and Pi would ask about it on stdin.
    [{ kind: 'continue', file: '/s/old one.jsonl' }, ['--session', '/s/old one.jsonl']],
    [{ kind: 'fork', file: '/s/old one.jsonl' }, ['--fork', '/s/old one.jsonl']],
  ])('for a session %j have %j', (session, wanted) => {
    const [mode, rpc, ...rest] = argumentsFor('1.6.0', plan, 'approve', session);
    expect([mode, rpc]).toEqual(['--mode', 'rpc']);
    // The session of this child is kept in its own folder, wherever it began.
    expect(rest).toEqual([...common.slice(2, 6), ...wanted, ...common.slice(6), ...end]);
  });

  it('name no model and no level where none was asked for', () => {
    const args = argumentsFor('1.6.0');
    expect(args).not.toContain('--model');
    expect(args).not.toContain('--thinking');
  });

  it('tell no tools from no choice of tools', () => {
    const agent = aRecord().child.agent;
    const { tools: _, ...ambient } = agent;
    expect(argumentsFor('1.6.0', { agent: { ...agent, tools: [] } })).toContain('--no-tools');
    expect(argumentsFor('1.6.0', { agent: { ...agent, tools: [] } })).not.toContain('--tools');
    const free = argumentsFor('1.6.0', { agent: ambient });
    expect(free).not.toContain('--tools');
    expect(free).not.toContain('--no-tools');
    expect(behind(argumentsFor('1.6.0'), '--tools')).toBe('read,edit');
  });

  it('allow the tool of the answer where a structured one is wanted, and say how it is given', () => {
    const outputSchema = { type: 'object' };
    const agent = aRecord().child.agent;
    expect(behind(argumentsFor('1.6.0', { outputSchema }), '--tools')).toBe('read,edit,structured_output');
    const without = argumentsFor('1.6.0', { outputSchema, agent: { ...agent, tools: [] } });
    expect(behind(without, '--tools')).toBe('structured_output');
    expect(without).not.toContain('--no-tools');
    // Pi's own prompt is not replaced by nothing but that sentence.
    const wordless = argumentsFor('1.6.0', { outputSchema, agent: { ...agent, systemPrompt: '' } });
    expect(behind(wordless, '--append-system-prompt')).toBe(layout.systemPrompt);
    const { child } = aRecord();
    expect(systemPromptOf({ ...child, outputSchema })).toMatch(/^.+\n\n.*structured_output/s);
    expect(systemPromptOf(child)).toBe(child.agent.systemPrompt);
  });

  it('give the system prompt as a file, in place of or after that of Pi, or not at all', () => {
    const agent = aRecord().child.agent;
    const appended = argumentsFor('1.6.0', { agent: { ...agent, systemPromptMode: 'append' } });
    expect(behind(appended, '--append-system-prompt')).toBe(layout.systemPrompt);
    expect(appended).not.toContain('--system-prompt');
    const without = argumentsFor('1.6.0', { agent: { ...agent, systemPrompt: '' } });
    expect(without.join(' ')).not.toContain('system-prompt');
  });

  it('are those of the plan, where it says more than the agent', () => {
    const args = argumentsFor('1.6.0', {
      tools: { list: ['read'], denied: ['edit'] },
      extensions: { found: false, paths: ['/one.ts', '/two.ts'] },
      skills: { found: false, paths: ['/skills/knots'] },
    });
    expect(behind(args, '--tools')).toBe('read');
    expect(args.join(' ')).toContain('-e /one.ts -e /two.ts --skill /skills/knots');
    expect(args).toContain('--no-extensions');
    expect(args).toContain('--no-skills');
    const open = argumentsFor('1.6.0', { tools: { only: ['read'] }, extensions: { found: true, paths: [] } });
    expect(open).not.toContain('--tools');
    expect(open).not.toContain('--no-tools');
    expect(open).not.toContain('--no-extensions');
  });

  it('leave out what the agent does not inherit', () => {
    const agent = { ...aRecord().child.agent, inheritProjectContext: false, inheritSkills: true };
    const args = argumentsFor('1.6.0', { agent });
    expect(args).toContain('--no-context-files');
    expect(args).not.toContain('--no-skills');
    expect(argumentsFor('1.6.0')).not.toContain('--no-context-files');
  });
});

describe('what a Pi can do', () => {
  it('follows from its version', () => {
    const names = ['namesSessions', 'knowsTrust', 'reportsSettled', 'clearsQueue'] as const;
    const floors = ['0.78.0', '0.79.0', '0.80.4', '0.84.4'];
    const below = ['0.77.9', '0.78.9', '0.80.3', '0.84.3'];
    names.forEach((name, i) => {
      expect(capabilitiesOf(floors[i] ?? '')[name], name).toBe(true);
      expect(capabilitiesOf(below[i] ?? '')[name], name).toBe(false);
    });
    const all = (can: boolean) => Object.fromEntries(names.map((name) => [name, can]));
    expect(capabilitiesOf('1.6.0')).toEqual(all(true));
    expect(capabilitiesOf('0.73.1')).toEqual(all(false));
  });
});

describe('the entry for the transcript', () => {
  it('of a message has its blocks, its model, its end and its cost', () => {
    const content = [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'hello' },
      { type: 'toolCall', id: 'c', name: 'bash', arguments: { command: 'ls' } },
      { type: 'image', mimeType: 'image/png' },
      { type: 'hologram' },
    ];
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: { total: 0.5 } };
    const message = {
      role: 'assistant',
      content,
      provider: 'fake',
      model: 'scripted',
      stopReason: 'error',
      errorMessage: 'e',
      usage,
    };
    expect(toTranscriptEntry({ type: 'message_end', message }, 7)).toEqual({
      type: 'message',
      t: 7,
      role: 'assistant',
      blocks: [
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'hello' },
        { type: 'toolCall', id: 'c', name: 'bash', arguments: '{"command":"ls"}' },
        { type: 'image', mimeType: 'image/png' },
      ],
      model: 'fake/scripted',
      stopReason: 'error',
      error: 'e',
      usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: 0.5 },
    });
    const user = toTranscriptEntry({ type: 'message_end', message: { role: 'user', content: 'do it' } }, 7);
    expect(user).toEqual({ type: 'message', t: 7, role: 'user', blocks: [{ type: 'text', text: 'do it' }] });
    for (const role of ['system', 'toolResult'])
      expect(toTranscriptEntry({ type: 'message_end', message: { role, content: 'x' } }, 7)).toBeUndefined();
  });

  it('of a delta has its kind and place', () => {
    const delta = (type: string, text?: string) =>
      toTranscriptEntry(
        {
          type: 'message_update',
          assistantMessageEvent: { type, contentIndex: 3, ...(text === undefined ? {} : { delta: text }) },
        },
        7,
      );
    for (const [type, kind] of [
      ['text_delta', 'text'],
      ['thinking_delta', 'thinking'],
      ['toolcall_delta', 'toolCall'],
    ] as const)
      expect(delta(type, 'x')).toEqual({ type: 'delta', t: 7, kind, index: 3, text: 'x' });
    for (const nothing of [delta('text_start'), delta('text_delta', ''), delta('text_end', 'x')])
      expect(nothing).toBeUndefined();
  });

  it('of a tool has its call, its output so far and its end', () => {
    const call = { toolCallId: 'c', toolName: 'bash' };
    const content = [{ type: 'text', text: 'out' }];
    expect(toTranscriptEntry({ type: 'tool_execution_start', ...call, args: { a: 1 } }, 7)).toEqual({
      type: 'tool.start',
      t: 7,
      id: 'c',
      name: 'bash',
      arguments: '{"a":1}',
    });
    const update = toTranscriptEntry({ type: 'tool_execution_update', toolCallId: 'c', partialResult: { content } }, 7);
    expect(update).toEqual({ type: 'tool.update', t: 7, id: 'c', text: 'out' });
    expect(toTranscriptEntry({ type: 'tool_execution_update', toolCallId: 'c' }, 7)).toBeUndefined();
    const end = toTranscriptEntry(
      { type: 'tool_execution_end', ...call, result: { content }, isError: true, durationMs: 9 },
      7,
    );
    expect(end).toEqual({ type: 'tool.end', t: 7, id: 'c', name: 'bash', text: 'out', isError: true, durationMs: 9 });
  });

  it('of a call that is nested too deeply to be written has a mark in its place', () => {
    let args: unknown = 'deep';
    for (let i = 0; i < 100_000; i++) args = [args];
    expect(
      toTranscriptEntry({ type: 'tool_execution_start', toolCallId: 'c', toolName: 'bash', args }, 7),
    ).toMatchObject({ type: 'tool.start', arguments: '…' });
  });

  it('of a retry and a compaction says why', () => {
    const retry = { attempt: 1, maxAttempts: 3, delayMs: 50 };
    expect(toTranscriptEntry({ type: 'auto_retry_start', ...retry, errorMessage: '529' }, 7)).toEqual({
      type: 'retry',
      t: 7,
      ...retry,
      error: '529',
    });
    expect(toTranscriptEntry({ type: 'compaction_start', reason: 'threshold' }, 7)).toEqual({
      type: 'compaction',
      t: 7,
      phase: 'start',
      reason: 'threshold',
    });
    expect(toTranscriptEntry({ type: 'compaction_end', reason: 'threshold', result: { summary: 's' } }, 7)).toEqual({
      type: 'compaction',
      t: 7,
      phase: 'end',
      reason: 'threshold',
      summary: 's',
    });
    expect(toTranscriptEntry({ type: 'agent_start' }, 7)).toBeUndefined();
  });
});
