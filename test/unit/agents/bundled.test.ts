import { describe, expect, it } from 'vitest';
import { findAgent } from '../../../src/core/agent-names/index.ts';
import { bundledAgents, parseAgent, toContract, unsupportedFields } from '../../../src/core/agents/index.ts';
import { agentContract } from '../../../src/protocol/index.ts';
import { agentIn, definition, withFields } from './definitions.ts';

describe('the agents that come with the product', () => {
  it('are these, with these tools', () => {
    const all = bundledAgents();
    expect(Object.fromEntries(all.map((agent) => [agent.name, agent.tools]))).toEqual({
      worker: ['read', 'grep', 'find', 'ls', 'bash', 'edit', 'write'],
      scout: ['read', 'grep', 'find', 'ls', 'bash', 'write'],
      reviewer: ['read', 'grep', 'find', 'ls'],
      oracle: ['read', 'grep', 'find', 'ls', 'bash'],
      delegate: ['read', 'grep', 'find', 'ls', 'bash', 'edit', 'write'],
    });
    expect(all.map((agent) => agent.name)).toEqual(['worker', 'scout', 'reviewer', 'oracle', 'delegate']);
    for (const agent of all) {
      expect(agent).toMatchObject({ source: 'builtin', inheritProjectContext: true, inheritSkills: false });
      expect(agent.model).toBeUndefined();
      expect(agent.systemPromptMode).toBe(agent.name === 'delegate' ? 'append' : 'replace');
      expect(agent.systemPrompt.length).toBeGreaterThan(100);
      expect(agent.systemPrompt).not.toContain('---');
      expect(agent.description).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('have nothing in them that is wrong, or that a launch does not apply', () => {
    for (const agent of bundledAgents()) {
      const { name, localName, description, aliases, tools = [] } = agent;
      expect(name).toBe(localName);
      expect(unsupportedFields(agent), name).toEqual([]);
      const text = definition(name, description, `aliases: ${aliases}`, `tools: ${tools}`);
      expect(parseAgent(text, { file: `${name}.md`, source: 'builtin' }).diagnostics, name).toEqual([]);
    }
  });

  it('know how hard to think', () => {
    const levels = Object.fromEntries(bundledAgents().map((agent) => [agent.name, agent.thinking]));
    expect(levels).toEqual({ worker: 'high', scout: 'low', reviewer: 'high', oracle: 'high', delegate: undefined });
  });

  it('are found by name and by alias, and never two by one word', () => {
    const all = bundledAgents();
    const words: [string, string][] = [
      ['worker', 'worker'],
      ['developer', 'worker'],
      ['coder', 'worker'],
      ['implementer', 'worker'],
      ['develop', 'worker'],
      ['advisor', 'oracle'],
      ['scout', 'scout'],
    ];
    for (const [word, name] of words) expect(findAgent(word, all).name).toBe(name);
    const every = all.flatMap((agent) => [agent.name, ...agent.aliases]);
    expect(new Set(every).size).toBe(every.length);
  });

  it('keep a contract that has all a run needs', () => {
    for (const agent of bundledAgents()) {
      const contract = toContract(agent);
      expect(agentContract.parse(contract)).toEqual(contract);
      expect(contract).toMatchObject({ name: agent.name, tools: agent.tools, systemPrompt: agent.systemPrompt });
    }
  });
});

describe('a contract', () => {
  it('has no tools where none are named, and none of those that are taken away', () => {
    expect(toContract(agentIn(withFields()))).not.toHaveProperty('tools');
    expect(toContract(agentIn(withFields('tools:'))).tools).toEqual([]);
    expect(toContract(agentIn(withFields('tools: read, bash, ls', 'excludeTools: bash'))).tools).toEqual([
      'read',
      'ls',
    ]);
  });
});
