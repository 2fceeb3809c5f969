/**
 * Removes known token shapes from text that is written only to be read: transcript mirror, error output, logs, notices.
 * Records that a resume needs are stored exactly and are not passed through here.
 */
const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{30,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{30,}/g,
  /\bglpat-[A-Za-z0-9_-]{20,}/g,
  /\bxox[abeprs]-[A-Za-z0-9-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\bhf_[A-Za-z0-9]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g,
  /(?<=\bBearer\s+)[A-Za-z0-9._~+/=-]{20,}/gi,
  /(?<=:\/\/[^\s/:@]+:)[^\s/@]{6,}(?=@)/g,
];

export const REDACTED = '[redacted]';

export function redact(text: string): string {
  let result = text;
  for (const shape of SHAPES) result = result.replace(shape, REDACTED);
  return result;
}
