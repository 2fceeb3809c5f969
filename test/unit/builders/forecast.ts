import { toContract } from '../../../src/core/agents/index.ts';
import { type LaunchInput, planLaunch } from '../../../src/core/launch/index.ts';
import type { AgentForecast } from '../../../src/extension/launch/foresee-agent.ts';
import { agentIn, withFields } from '../agents/definitions.ts';
import { aRecord } from './run.ts';

/** What the editor foresees of a launch: planned as any other, with the fields of an agent's definition. */
export function aForecast(
  fields: readonly string[] = [],
  input: Partial<LaunchInput> = {},
  over: Partial<AgentForecast> = {},
): AgentForecast {
  const agent = agentIn(withFields(...fields));
  const registry = ['fake/one', 'fake/two'].map((fullId) => ({ provider: 'fake', id: fullId.slice(5), fullId }));
  const planned = planLaunch({
    call: { task: 'Mend it.' },
    agent: toContract(agent),
    trust: 'approve',
    models: { registry },
    cwd: '/work',
    outputs: '/run/artifacts/outputs',
    progressFile: '/run/artifacts/progress.md',
    ...input,
  });
  const record = aRecord({ child: planned.child, cwd: '/work', timeoutMs: planned.timeoutMs });
  const plan = { planned, agent, record } as unknown as NonNullable<AgentForecast['plan']>;
  return {
    plan,
    problem: null,
    workplace: { kind: 'folder' },
    defaultModel: undefined,
    piDefault: 'fake/one',
    ...over,
  };
}
