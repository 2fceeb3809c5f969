import type { Finding } from '../../protocol/index.ts';

/** The verdict on a script: only errors make it wrong. */
export interface Validation {
  ok: boolean;
  errors: Finding[];
  warnings: Finding[];
}

export function toValidation(findings: readonly Finding[]): Validation {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const warnings = findings.filter(({ severity }) => severity === 'warning');
  return { ok: errors.length === 0, errors, warnings };
}
