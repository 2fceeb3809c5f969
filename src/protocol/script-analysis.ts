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
});
export type AnalysisOptions = z.infer<typeof analysisOptions>;
