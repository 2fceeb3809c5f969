/**
 * Lines of a file by byte offset, forward or backward, in blocks: never more of the file is held than one block and the
 * longest line up to a cap. Lines end at byte 10 only. Beyond the cap only both ends of a line are kept.
 */
import type { FileHandle } from 'node:fs/promises';

/** Longest line that is decoded, in bytes. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Bytes kept of both ends of a longer line: enough to tell what it is. */
const EDGE_BYTES = 4096;

const FIRST_BLOCK = 32 * 1024;
const BLOCK = 256 * 1024;
const NEWLINE = 10;

export interface FileLine {
  /** Of its first byte. */
  offset: number;
  /** Its length without the newline. */
  bytes: number;
  /** Behind its newline. */
  next: number;
  /** False: the file ends without a newline here. */
  terminated: boolean;
  /** Undefined when it is longer than the cap; then `head` and `tail` are all there is of it. */
  data: Buffer | undefined;
  head: Buffer;
  tail: Buffer;
}

interface Span {
  offset: number;
  bytes: number;
  next: number;
  terminated: boolean;
}

function wholeLine(span: Span, data: Buffer): FileLine {
  return { ...span, data, head: data, tail: data };
}

/** Reads exactly that part of a file, or less where it ends. */
async function readAt(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(buffer, done, length - done, from + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer.subarray(0, done);
}

/** Block by block the lines from `from`, which must begin a line, up to `limit`. Empty lines are left out. */
export async function* linesForward(
  handle: FileHandle,
  from: number,
  limit: number,
  cap: number = MAX_LINE_BYTES,
): AsyncGenerator<FileLine[]> {
  let position = from;
  let size = FIRST_BLOCK;
  let offset = from;
  let pieces: Buffer[] = [];
  let head: Buffer | undefined;
  let tail = Buffer.alloc(0);

  const finish = (end: number, terminated: boolean): FileLine[] => {
    const bytes = end - offset;
    const span = { offset, bytes, next: terminated ? end + 1 : end, terminated };
    const line: FileLine | undefined =
      bytes === 0 ? undefined : head ? { ...span, data: undefined, head, tail } : wholeLine(span, join(pieces));
    offset = span.next;
    pieces = [];
    head = undefined;
    return line ? [line] : [];
  };
  const keep = (piece: Buffer, end: number): void => {
    if (!head) {
      pieces.push(piece);
      if (end - offset <= cap) return;
      const all = join(pieces);
      head = Buffer.from(all.subarray(0, EDGE_BYTES));
      tail = Buffer.from(all.subarray(-EDGE_BYTES));
      pieces = [];
      return;
    }
    tail = Buffer.from(Buffer.concat([tail, piece.subarray(-EDGE_BYTES)]).subarray(-EDGE_BYTES));
  };

  while (position < limit) {
    const block = await readAt(handle, position, Math.min(size, limit - position));
    if (block.length === 0) break;
    const start = position;
    position += block.length;
    size = BLOCK;
    const lines: FileLine[] = [];
    let at = 0;
    for (let end = block.indexOf(NEWLINE); end !== -1; end = block.indexOf(NEWLINE, at)) {
      if (end > at) keep(block.subarray(at, end), start + end);
      lines.push(...finish(start + end, true));
      at = end + 1;
    }
    if (at < block.length) keep(block.subarray(at), position);
    if (lines.length > 0) yield lines;
  }
  if (position > offset) yield finish(position, false);
}

/** Block by block, each block's last line first, the lines in front of `end`, which must be the begin of a line or the end of the file. */
export async function* linesBackward(
  handle: FileHandle,
  end: number,
  cap: number = MAX_LINE_BYTES,
): AsyncGenerator<FileLine[]> {
  let position = end;
  let size = FIRST_BLOCK;
  /** Where the line that is being gathered ends, its newline excluded. */
  let lineEnd = end;
  let terminated = false;
  /** What has been gathered of it, in order. */
  let pieces: Buffer[] = [];
  let tail: Buffer | undefined;
  let first = true;

  const keep = (piece: Buffer, start: number): void => {
    if (piece.length === 0 || tail) return;
    pieces.unshift(piece);
    if (lineEnd - start <= cap) return;
    tail = Buffer.from(join(pieces).subarray(-EDGE_BYTES));
    pieces = [];
  };
  const finish = async (offset: number): Promise<FileLine[]> => {
    const span = { offset, bytes: lineEnd - offset, next: terminated ? lineEnd + 1 : lineEnd, terminated };
    const long = tail;
    const data = long ? undefined : join(pieces);
    pieces = [];
    tail = undefined;
    if (span.bytes === 0) return [];
    if (data) return [wholeLine(span, data)];
    return [{ ...span, data, head: await readAt(handle, offset, EDGE_BYTES), tail: long ?? Buffer.alloc(0) }];
  };

  while (position > 0) {
    const start = Math.max(0, position - size);
    const block = await readAt(handle, start, position - start);
    // The file has become shorter.
    if (block.length < position - start) return;
    size = BLOCK;
    position = start;
    let until = block.length;
    if (first && block[until - 1] === NEWLINE) {
      until--;
      lineEnd = start + until;
      terminated = true;
    }
    first = false;
    const lines: FileLine[] = [];
    while (until > 0) {
      const at = block.lastIndexOf(NEWLINE, until - 1);
      if (at === -1) break;
      keep(block.subarray(at + 1, until), start + at + 1);
      lines.push(...(await finish(start + at + 1)));
      until = at;
      lineEnd = start + at;
      terminated = true;
    }
    keep(block.subarray(0, until), start);
    if (lines.length > 0) yield lines;
  }
  if (lineEnd > 0) yield await finish(0);
}

function join(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
}

/** Text of a part of a file, block by block; characters are not cut apart. */
export async function* textPieces(handle: FileHandle, from: number, bytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for (let at = 0; at < bytes; at += BLOCK) {
    const block = await readAt(handle, from + at, Math.min(BLOCK, bytes - at));
    yield decoder.decode(block, { stream: at + block.length < bytes });
    if (block.length === 0) return;
  }
}
