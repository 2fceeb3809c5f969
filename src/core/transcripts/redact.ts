/**
 * Removes known token shapes from text that is written only to be read: transcript mirror, error output, logs, notices.
 * Records that a resume needs are stored exactly and are not passed through here.
 */
const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)/g,
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

/** A word longer than this is no token: it need not be kept together. */
const LONGEST_TOKEN = 8 * 1024;

/**
 * How much of a growing text can be redacted and written now. The rest may be the beginning of what the next piece
 * completes to a token: its last word (with the `Bearer` in front of it), or a private key without its end.
 */
export function settledLength(text: string): number {
  const key = text.lastIndexOf('-----BEGIN');
  const end = key !== -1 && !text.includes('-----END', key) ? key : text.length;
  let word = end;
  while (word > 0 && isTokenChar(text.charCodeAt(word - 1))) word--;
  if (end - word > LONGEST_TOKEN) return end;
  const scheme = /\bBearer\s+$/i.exec(text.slice(Math.max(0, word - 40), word));
  return scheme ? word - scheme[0].length : word;
}

/** Tokens are made of visible ASCII; text in scripts without spaces is not held back. */
function isTokenChar(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}
