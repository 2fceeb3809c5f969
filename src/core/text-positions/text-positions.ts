import type { TextRange } from '../../protocol/index.ts';

/**
 * Lines and columns of a text, from 1, in UTF-16 units. A line ends with LF, CRLF or CR, as in editors: JavaScript's further
 * line ends, U+2028 and U+2029, do not count.
 */
export class TextPositions {
  readonly text: string;
  readonly #starts: number[] = [0];

  constructor(text: string) {
    this.text = text;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10)) this.#starts.push(at + 1);
    }
  }

  /** The place of an offset; offsets past the end are taken as the end. */
  at(offset: number): { line: number; column: number } {
    const within = Math.max(0, Math.min(offset, this.text.length));
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= within) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: within - (this.#starts[low] ?? 0) + 1 };
  }

  range(start: number, end: number): TextRange {
    const from = this.at(start);
    const to = this.at(end);
    return { ...from, endLine: to.line, endColumn: to.column };
  }

  /** The offset of a place; the reverse of `at`. */
  offset(line: number, column: number): number {
    return Math.min((this.#starts[line - 1] ?? this.text.length) + column - 1, this.text.length);
  }
}
