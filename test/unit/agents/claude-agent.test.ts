/** Agents of Claude Code as agents of Pi: what is taken over, and what is left out and told. */
import { expect, it } from 'vitest';
import { importClaudeAgent } from '../../../src/core/agents/index.ts';

const FILE = '/home/me/.claude/agents/reviewer.md';
const imported = (...lines: string[]) =>
  importClaudeAgent(
    ['---', 'name: code-reviewer', 'description: Reviews code.', ...lines, '---', '', 'You review.', ''].join('\n'),
    FILE,
  );

it('takes over names, description, prompt, and tools by what Pi calls them', () => {
  expect(
    imported('tools: Read, Grep, Glob, LS, Bash, Edit, MultiEdit, Write', 'color: blue', 'model: inherit'),
  ).toEqual({
    config: {
      name: 'code-reviewer',
      description: 'Reviews code.',
      systemPrompt: 'You review.',
      inheritProjectContext: true,
      tools: ['read', 'grep', 'find', 'ls', 'bash', 'edit', 'write'],
      model: 'inherit',
    },
    left: [],
  });
});

it('leaves tools to Pi where none are named, and gives none where all that are named are unknown', () => {
  expect(imported().config).not.toHaveProperty('tools');
  expect(imported('tools: WebFetch').config['tools']).toEqual([]);
});

it('gives no tool that the agent did not have: a bound it cannot keep leaves the tool out', () => {
  const { config, left } = imported('tools: Read, Bash(git log:*), WebSearch, mcp__docs__search, Task');
  expect(config['tools']).toEqual(['read']);
  expect(left).toEqual(
    ['Bash(git log:*)', 'WebSearch', 'mcp__docs__search', 'Task'].map((value) => ({ field: 'tools', value })),
  );
});

it('takes tools away by the same names', () => {
  const { config, left } = imported('disallowedTools: Write, Edit, NotebookEdit');
  expect(config['excludeTools']).toEqual(['write', 'edit']);
  expect(left).toEqual([{ field: 'disallowedTools', value: 'NotebookEdit' }]);
});

it('tells what else it cannot keep, and guesses no model', () => {
  const { config, left } = imported('model: sonnet', 'permissionMode: acceptEdits', 'maxTurns: 5', 'skills: testing');
  expect(config).not.toHaveProperty('model');
  expect(config['skills']).toEqual(['testing']);
  expect(left).toEqual([
    { field: 'model', value: 'sonnet' },
    { field: 'permissionMode', value: 'acceptEdits' },
    { field: 'maxTurns', value: '5' },
  ]);
});

it('reads descriptions that are no YAML, as that program does', () => {
  const { config } = importClaudeAgent(
    '---\nname: x\ndescription: Use this: when <example> user: "hi" </example>\ntools: Read\n---\nBody.\n',
    FILE,
  );
  expect(config).toMatchObject({ description: 'Use this: when <example> user: "hi" </example>', tools: ['read'] });
});

it('refuses what is no definition, with its place', () => {
  expect(() => importClaudeAgent('# Notes\n', FILE)).toThrow(expect.objectContaining({ code: 'agent_invalid' }));
});
