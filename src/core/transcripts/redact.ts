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
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,8192}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g,
  /(?<=\bBearer\s{1,8})[A-Za-z0-9._~+/=-]{20,}/gi,
  /(?<=:\/\/[^\s/:@]+:)[^\s/@]{6,}(?=@)/g,
];

export const REDACTED = '[redacted]';

export function redact(text: string): string {
  let result = text;
  for (const shape of SHAPES) result = result.replace(shape, REDACTED);
  return result;
}

const UNFINISHED_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?![\s\S]*-----END [A-Z ]*PRIVATE KEY)/;

/** Redacts a text that comes line by line: a private key goes over many of them. */
export class LineRedaction {
  #inKey = false;

  redact(line: string): string {
    const text = this.#inKey ? `-----BEGIN PRIVATE KEY-----${line}` : line;
    this.#inKey = UNFINISHED_KEY.test(text);
    return redact(text);
  }
}

/** A word longer than this is no token: it need not be kept together. */
const LONGEST_TOKEN = 8 * 1024;

/**
 * How much of a growing text can be redacted and written now. The rest may be the beginning of what the next piece
 * completes to a token: its last word (with the `Bearer` in front of it), or a private key without its end.
 */
export function settledLength(text: string): number {
  let end = text.length;
  const first = Math.max(0, text.length - LONGEST_TOKEN - 1);
  while (end > first && isWordChar(text.charAt(end - 1))) end--;
  if (text.length - end > LONGEST_TOKEN) end = text.length;
  const key = text.lastIndexOf('-----BEGIN');
  if (key !== -1 && end < endOfKey(text, key)) end = Math.min(end, key);
  const scheme = /\bBearer\s+$/i.exec(text.slice(Math.max(0, end - 40), end));
  return scheme ? end - scheme[0].length : end;
}

/** Behind the last line of the key that begins at `from`. */
function endOfKey(text: string, from: number): number {
  const line = /-----END [A-Z ]*-----/.exec(text.slice(from));
  return line ? from + line.index + line[0].length : Number.POSITIVE_INFINITY;
}

/** Scripts from U+2E80 on are written without spaces and are not held back: no token is made of them. */
function isWordChar(char: string): boolean {
  return char < '\u2e80' && /\S/.test(char);
}
