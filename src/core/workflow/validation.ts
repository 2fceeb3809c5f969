import type { Finding, PlainFinding } from '../../protocol/index.ts';

/** The verdict on a script: only errors make it wrong. */
export interface Validation {
  ok: boolean;
  errors: PlainFinding[];
  warnings: PlainFinding[];
}

export function toValidation(findings: readonly Finding[]): Validation {
  const plain = findings.map(({ words: _, ...finding }): PlainFinding => finding);
  const errors = plain.filter(({ severity }) => severity === 'error');
  const warnings = plain.filter(({ severity }) => severity === 'warning');
  return { ok: errors.length === 0, errors, warnings };
}
