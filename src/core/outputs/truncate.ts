/** Most that is handed on of a child's answer. The whole text stays in its result file. */
export const MAX_OUTPUT_BYTES = 200 * 1024;
export const MAX_OUTPUT_LINES = 5000;

/** Cuts an answer to the limits, at a line or character boundary, and says so. */
export function truncateOutput(text: string): { text: string; truncated: boolean } {
  const lines = text.split('\n');
  // A newline at the end closes the last line and begins none.
  if (lines.at(-1) === '') lines.pop();
  let cut = lines.length > MAX_OUTPUT_LINES ? lines.slice(0, MAX_OUTPUT_LINES).join('\n') : text;
  if (Buffer.byteLength(cut) > MAX_OUTPUT_BYTES) {
    const bytes = Buffer.from(cut).subarray(0, MAX_OUTPUT_BYTES);
    cut = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
  }
  if (cut.length === text.length) return { text, truncated: false };
  return { text: `${cut}\n[cut: ${Buffer.byteLength(text)} bytes, ${lines.length} lines in all]`, truncated: true };
}
