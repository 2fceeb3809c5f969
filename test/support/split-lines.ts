const LF = 0x0a;
const CR = 0x0d;

/**
 * A listener for `data` events that calls `onLine` once per line. Splits bytes at LF, before decoding: a character cut in
 * two by a chunk border stays whole, and U+2028 stays inside its line (Node's readline splits there). One CR before the
 * LF is dropped. Bytes after the last LF are no line and are never reported.
 */
export function splitLines(onLine: (line: string) => void): (chunk: Buffer) => void {
  // Kept as pieces until the line ends: joining at every chunk costs the square of a long line.
  let open: Buffer[] = [];
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      const line = Buffer.concat([...open, chunk.subarray(start, end)]);
      open = [];
      start = end + 1;
      onLine(line.toString('utf8', 0, line.at(-1) === CR ? line.length - 1 : line.length));
    }
    if (start < chunk.length) open.push(chunk.subarray(start));
  };
}
