/** Terminals, editors and pages must not be steered by what a child says: control characters and direction marks become visible. */
export function visible(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (char) => {
      const code = char.codePointAt(0) ?? 0;
      return code < 0x20 ? String.fromCodePoint(0x2400 + code) : `\\u${code.toString(16).padStart(4, '0')}`;
    });
}

/** As `visible`, for what has to stay on one line: the name of a file may have line breaks in it. */
export function visibleLine(text: string): string {
  const escaped = text.replace(/[\u2028\u2029]/g, (char) => `\\u${char.codePointAt(0)?.toString(16)}`);
  return visible(escaped.replaceAll('\t', '␉').replaceAll('\n', '␊'));
}
