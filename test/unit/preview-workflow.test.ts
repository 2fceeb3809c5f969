/** What a planned workflow will start: agents, models and prices as the runner will decide them. */
import { describe, expect, it } from 'vitest';
import { previewWorkflow } from '../../src/client/preview-workflow.ts';
import { bundledAgents, toContract } from '../../src/core/agents/index.ts';
import { analyseScript } from '../../src/core/workflow/analyse-script.ts';
import { describeError } from '../../src/protocol/index.ts';
import { aWorkflow } from './builders/workflow.ts';

const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const usable = {
  models: [
    { name: 'acme/big', title: 'Big', reasoning: true, contextWindow: null, price },
    { name: 'acme/own', title: 'Own', reasoning: true, contextWindow: null, price: null },
  ],
  defaultModel: 'acme/own',
};
const agents = [
  ...bundledAgents().map((agent) => ({
    contract: toContract(agent),
    aliases: agent.aliases,
    ...(agent.thinking ? { thinking: agent.thinking } : {}),
  })),
  {
    contract: { ...toContract(bundledAgents()[0] as never), name: 'painter' },
    aliases: [],
    model: 'acme/big:low',
    thinking: 'high',
  },
];

function preview(script: string, defaultModel?: string) {
  const record = aWorkflow({ agents, ...(defaultModel === undefined ? {} : { defaultModel }) });
  return previewWorkflow({ record, analysis: analyseScript(script), usable });
}

const launch = (params: string) => `return (await runs.run('a', { task: 'x', ${params} })).output;`;

describe('an agent', () => {
  it.each([
    ["agent: 'reviewer'", undefined, ['reviewer', 'acme/own', 'high']],
    ["agent: 'coder'", undefined, ['worker', 'acme/own', 'high']],
    ["agent: 'reviewer'", 'acme/big:max', ['reviewer', 'acme/big', 'max']],
    ["agent: 'painter'", 'acme/own', ['painter', 'acme/big', 'low']],
    ["agent: 'painter', model: 'own'", undefined, ['painter', 'acme/own', 'high']],
    ["agent: 'delegate', model: 'acme/big'", undefined, ['delegate', 'acme/big', null]],
    ["agent: 'delegate', model: args.model", undefined, ['delegate', null, null]],
    ['agent: args.agent', undefined, [null, null, null]],
    ['resume: args.run', undefined, [null, null, null]],
  ])('with %s and the default %s', (params, defaultModel, wanted) => {
    const [child] = preview(launch(params), defaultModel).children;
    expect([child?.agent, child?.model, child?.thinking]).toEqual(wanted);
    expect(child?.problem).toBeNull();
  });

  it('or model that nobody knows says so', () => {
    const { children } = preview(
      `${launch("agent: 'reviewr'").replace('return', 'const one =')}
       await runs.run('b', { agent: 'scout', model: 'acme/huge', task: 'x' });`,
    );
    expect(children.map(({ problem }) => problem?.code)).toEqual(['agent_unknown', 'model_unknown']);
  });

  it('that could not be launched say why', () => {
    const refusedAgents = [
      {
        name: 'sculptor',
        aliases: ['mason'],
        error: describeError('agent_unsupported', { name: 'sculptor', fields: 'skills', file: 's.md' }),
      },
    ];
    const record = aWorkflow({ agents, refusedAgents });
    const { children } = previewWorkflow({ record, analysis: analyseScript(launch("agent: 'mason'")), usable });
    expect(children.map(({ problem }) => problem?.message)).toEqual([refusedAgents[0]?.error.message]);
  });
});

describe('models', () => {
  it('have the price that the registry knows, or none, and count their known children', () => {
    const { models } = preview(`
      await runs.all([
        { key: 'a', agent: 'scout', task: 'x' },
        { key: 'b', agent: 'scout', task: 'x' },
        { key: 'c', agent: 'painter', task: 'x' },
      ]);
      for (const part of args.parts) await runs.run(part, { agent: 'scout', task: 'x' });`);
    expect(models).toEqual([
      { name: 'acme/own', title: 'Own', price: null, children: 2 },
      { name: 'acme/big', title: 'Big', price, children: 1 },
    ]);
  });
});

it('what cannot be read may be anything', () => {
  expect(previewWorkflow({ record: aWorkflow({ agents }), analysis: {}, usable })).toEqual({
    children: [],
    more: [],
    hasMore: true,
    models: [],
    hosts: [],
    hasMoreHosts: true,
  });
});
