/** What the driver and our extension inside Pi tell each other: a file on the way in, a status text on the way out. */
import { type ChildContract, type ChildPlan, type ChildReport, childReport } from '../../../protocol/index.ts';
import type { ChildLayout } from '../../projects/index.ts';

export function contractOf({ agent, tools, toolBudget, outputSchema }: ChildPlan, layout: ChildLayout): ChildContract {
  const { list, only, denied, asked } = tools ?? { list: agent.tools };
  return {
    ...(list === undefined ? {} : { tools: list }),
    ...(only === undefined ? {} : { onlyTools: only }),
    ...(denied === undefined ? {} : { deniedTools: denied }),
    ...(asked === undefined ? {} : { askedTools: asked }),
    ...(toolBudget === undefined ? {} : { toolBudget }),
    ...(outputSchema === undefined ? {} : { output: { schema: outputSchema, file: layout.structuredOutput } }),
    rateGate: layout.rateGate,
    ...(agent.inheritProjectContext && agent.inheritGlobalContext === false ? { withoutGlobalContext: true } : {}),
  };
}

/** `undefined`: not a report that this runner knows. */
export function readReport(text: string): ChildReport | undefined {
  try {
    return childReport.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
