import { bundledAgents } from '../../core/agents/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';

export function agentsCommand(context: CliContext, options: { json: boolean | undefined }): number {
  const agents = bundledAgents();
  if (options.json) {
    printJson(context, {
      agents: agents.map(({ name, description, aliases, source, tools }) => ({
        name,
        description,
        aliases,
        source,
        tools,
      })),
    });
  } else for (const agent of agents) context.out(`${agent.name.padEnd(10)}${agent.description}`);
  return EXIT.ok;
}
