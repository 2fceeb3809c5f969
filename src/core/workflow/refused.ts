import { type Finding, type FindingCode, type ScriptAnalysis, severityOf } from '../../protocol/index.ts';

/** An answer that concerns a script as a whole. */
export function refused(code: FindingCode, message: string): ScriptAnalysis {
  const finding: Finding = { code, severity: severityOf(code), message, line: 1, column: 1, endLine: 1, endColumn: 1 };
  return { findings: [finding], keys: [], agents: [] };
}
