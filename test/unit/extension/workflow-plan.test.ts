/** The plan of a workflow as a person sees it. */
import { describe, expect, it, vi } from 'vitest';
import { type PlannedWorkflow, previewWorkflow } from '../../../src/client/index.ts';
import { bundledAgents, toContract } from '../../../src/core/agents/index.ts';
import { analyseScript } from '../../../src/core/workflow/analyse-script.ts';
import { planDocument } from '../../../src/extension/workflows/plan-document.ts';
import { commandLine, dollars, needsConsent, summaryOf } from '../../../src/extension/workflows/plan-words.ts';
import { aWorkflow } from '../builders/workflow.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

const agents = bundledAgents().map((agent) => ({ contract: toContract(agent), aliases: agent.aliases }));
const price = { input: 0.25, output: 15, cacheRead: 0.025, cacheWrite: 0 };
const usable = {
  models: [{ name: 'acme/big', title: 'Big', reasoning: true, contextWindow: null, price }],
  defaultModel: 'acme/big',
};

function planOf(script: string, over: Parameters<typeof aWorkflow>[0] = {}) {
  const record = aWorkflow({ agents, script, ...over });
  const plan = { record, analysis: analyseScript(script), usable } as PlannedWorkflow;
  return { plan, preview: previewWorkflow(plan) };
}

const agent = (key: string, name = 'scout') => `await runs.run('${key}', { agent: '${name}', task: 'x' });`;
const command = `await runs.host('check', { kind: 'command', command: 'npm test', timeoutMs: 1000 });`;
const dynamic = `for (const key of args.keys) await runs.run(key, { agent: 'scout', task: 'x' });`;

describe('whether a person is asked', () => {
  it.each<[string, string, number, boolean]>([
    ['few agents', agent('a') + agent('b'), 2, false],
    ['more than that', agent('a') + agent('b') + agent('c'), 2, true],
    ['a command', command, 99, true],
    ['a number that is not known', dynamic, 99, true],
    ['an agent nobody knows', agent('a', 'scuot'), 99, true],
    ['one agent, when every workflow asks', agent('a'), 0, true],
    ['no agents', 'return 1;', 0, false],
  ])('%s', (_, script, above, asks) => {
    expect(needsConsent(planOf(script).preview, above)).toBe(asks);
  });
});

describe('how much it is', () => {
  it.each([
    [agent('a'), '1 agent'],
    [agent('a') + agent('b') + command, '2 agents · 1 command on this machine'],
    [agent('a') + dynamic, '1 agent known, how many more is not'],
    [dynamic, 'unknown number of agents'],
    ['return 1;', 'it starts no agents'],
  ])('%s', (script, words) => {
    expect(summaryOf(planOf(script).preview)).toBe(words);
  });
});

describe('the document', () => {
  it('lists agents, lanes, models with prices, inputs and commands to the letter', () => {
    const { plan, preview } = planOf(
      `const a = await runs.run('a', { agent: 'scout', task: args.topic });
       if (a.ok) await runs.run('b', { agent: 'nobody', task: 'x' });
       await runs.lanes([{ key: 'ui', stages: [{ key: 'write', agent: 'worker', task: 'x' }] }]);
       await runs.host('check', { kind: 'command', command: 'echo "$(date)" \\'<b>\\'', timeoutMs: 1000 });`,
      { args: '{"topic":"x"}' },
    );
    const text = planDocument(plan, preview);
    expect(text).not.toContain('Result file');
    expect(text).toContain('# Plan of harbour.workflow.js');
    expect(text).toMatch(/^\| a +\| +\| scout · acme\/big:low +\|$/m);
    expect(text).toMatch(/^\| b +\| +\| will be refused: .*"nobody".*\|$/m);
    expect(text).toMatch(/^\| ui\.write +\| ui +\| worker · acme\/big:high +\|$/m);
    expect(text).toMatch(/^\| acme\/big +\| 2 +\| \$0\.25 in, \$15 out per million tokens +\| \$0\.025, \$0 +\|$/m);
    expect(text).toContain('```sh\necho "$(date)" \'<b>\'\n```');
    expect(text).toContain('"topic": "x"');
    expect(text).toContain('Each is asked about before it runs.');
  });

  it('names the file that what it comes to is written to', () => {
    const { plan, preview } = planOf('return 1;', { output: '/work/my*report.md' });
    expect(planDocument(plan, preview)).toContain('- Result file: /work/my\\*report.md\n');
  });

  it('says what becomes of commands', () => {
    const { plan, preview } = planOf(command, { host: { mode: 'deny', globs: [] } });
    expect(planDocument(plan, preview)).toContain('None of them will run');
  });
});

it('a command stands on one line, and a price has all its digits', () => {
  expect(commandLine(' a\nb ')).toBe('a ⏎ b');
  expect([0.25, 3, 0.000_125, 1.1 * 3].map(dollars)).toEqual(['$0.25', '$3', '$0.000125', '$3.3']);
});
