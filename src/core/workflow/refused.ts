import type { FindingCode, ScriptAnalysis, Words } from '../../protocol/index.ts';
import { toFinding } from './to-finding.ts';

/** An answer that concerns a script as a whole. */
export function refused(code: FindingCode, message: Words): ScriptAnalysis {
  const range = { line: 1, column: 1, endLine: 1, endColumn: 1 };
  return { findings: [toFinding({ code, message, range })], keys: [], agents: [] };
}
