/** All that reading a script comes to. */
import * as z from 'zod/mini';
import { scriptOutlook } from './script-outlook.ts';
import { agentMention, finding, scriptKey } from './workflow-findings.ts';

export const scriptAnalysis = z.object({
  findings: z.array(finding),
  keys: z.array(scriptKey),
  agents: z.array(agentMention),
  /** Absent: the text cannot be read as a script. */
  outlook: z.optional(scriptOutlook),
});
export type ScriptAnalysis = z.infer<typeof scriptAnalysis>;

export const analysisOptions = z.object({
  maxSubagentSpawnsPerRun: z.optional(z.int().check(z.positive())),
  /** The file of the workflow, absolute, beside which children without an output write. Known only when it is launched. */
  aggregate: z.optional(z.string()),
});
export type AnalysisOptions = z.infer<typeof analysisOptions>;
