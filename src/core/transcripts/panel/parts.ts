/**
 * The files of a transcript as one: a session file alone, or the head of a mirror and the segments after it. What a limit
 * has dropped between two of them is a line of its own, so that readers meet it where it is missing.
 */
import { type FileHandle, stat } from 'node:fs/promises';
import { errnoOf, openRegular } from '../../files/index.ts';
import { mirrorFiles } from '../segments.ts';
import { type FileLine, linesBackward, linesForward, textPieces } from './file-lines.ts';
import type { Place } from './places.ts';

export interface Part {
  number: number;
  path: string;
  /** Bytes that are read of it. */
  size: number;
  /** Tells one file from another of the same name. */
  identity: string;
}

export interface PlacedLine {
  place: Place;
  /** Behind it. */
  next: Place;
  /** `undefined`: something was dropped here. */
  line: FileLine | undefined;
}

export type FindParts = () => Promise<Part[]>;

async function partAt(path: string, number: number): Promise<Part[]> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return [];
    return [{ number, path, size: found.size, identity: `${found.dev}:${found.ino}` }];
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

export function partsOfFile(path: string): FindParts {
  return () => partAt(path, 0);
}

export function partsOfMirror(path: string): FindParts {
  return async () => {
    const files = await mirrorFiles(path);
    return (await Promise.all(files.map(({ path: file, number }) => partAt(file, number)))).flat();
  };
}

/** Opens, gives away, closes; a file that has gone meanwhile is as good as empty. */
async function* withFile<T>(path: string, read: (handle: FileHandle) => AsyncGenerator<T>): AsyncGenerator<T> {
  let handle: FileHandle;
  try {
    handle = await openRegular(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw error;
  }
  try {
    yield* read(handle);
  } finally {
    await handle.close();
  }
}

/** The parts as they were at one moment: never more is read of them. */
export class Parts {
  readonly list: readonly Part[];

  constructor(list: readonly Part[]) {
    this.list = list;
  }

  get bytes(): number {
    return this.list.reduce((sum, { size }) => sum + size, 0);
  }

  /** Where it begins; a gap in front of its first part included. */
  get begin(): Place {
    const first = this.list[0];
    return { part: first?.number ?? 0, offset: first && this.#dropsBefore(0) ? -1 : 0 };
  }

  get end(): Place {
    const last = this.list.at(-1);
    return { part: last?.number ?? 0, offset: last?.size ?? 0 };
  }

  /** Bytes in front of a place. */
  bytesBefore(place: Place): number {
    const before = this.list.filter(({ number }) => number < place.part).reduce((sum, { size }) => sum + size, 0);
    return before + Math.max(0, place.offset);
  }

  /** Whether something is missing before the n-th part of the list. */
  #dropsBefore(index: number): boolean {
    const number = this.list[index]?.number ?? 0;
    return number !== (this.list[index - 1]?.number ?? -1) + 1;
  }

  /** Whether a limit has dropped something. */
  get hasDropped(): boolean {
    return this.list.some((_, index) => this.#dropsBefore(index));
  }

  #gap(index: number): PlacedLine[] {
    const part = this.list[index]?.number;
    if (part === undefined || !this.#dropsBefore(index)) return [];
    return [{ place: { part, offset: -1 }, next: { part, offset: 0 }, line: undefined }];
  }

  /** The parts as far as a place. */
  upTo(place: Place): Parts {
    const list = this.list
      .filter(({ number }) => number <= place.part)
      .map((part) => (part.number === place.part ? { ...part, size: Math.max(0, place.offset) } : part));
    return new Parts(list);
  }

  /** From the begin of a line on. */
  async *forward(from: Place): AsyncGenerator<PlacedLine[]> {
    for (const [index, part] of this.list.entries()) {
      if (part.number < from.part) continue;
      const { number, path, size } = part;
      const inside = number === from.part;
      const gap = inside && from.offset >= 0 ? [] : this.#gap(index);
      if (gap.length > 0) yield gap;
      const start = inside ? Math.max(0, from.offset) : 0;
      if (start >= size) continue;
      for await (const lines of withFile(path, (handle) => linesForward(handle, start, size)))
        yield lines.map((line) => placed(number, line));
    }
  }

  /** The line that begins here. */
  async lineAt(place: Place): Promise<FileLine | undefined> {
    for await (const lines of this.forward(place)) return lines[0]?.line;
    return undefined;
  }

  /** The text of the line that begins here, as it stands in its file, in pieces: it may be too long to be held. */
  async *rawLine(place: Place): AsyncGenerator<string> {
    const path = this.list.find(({ number }) => number === place.part)?.path;
    const line = await this.lineAt(place);
    if (path === undefined || !line) return;
    yield* withFile(path, (handle) => textPieces(handle, line.offset, line.bytes));
  }

  /** From the end of a line on, the last line first. */
  async *backward(to: Place): AsyncGenerator<PlacedLine[]> {
    for (let index = this.list.length - 1; index >= 0; index--) {
      const part = this.list[index];
      if (!part || part.number > to.part) continue;
      const { number, path, size } = part;
      const inside = number === to.part;
      if (inside && to.offset < 0) continue;
      const end = inside ? Math.min(to.offset, size) : size;
      if (end > 0)
        for await (const lines of withFile(path, (handle) => linesBackward(handle, end)))
          yield lines.map((line) => placed(number, line));
      const gap = this.#gap(index);
      if (gap.length > 0) yield gap;
    }
  }
}

function placed(part: number, line: FileLine): PlacedLine {
  return { place: { part, offset: line.offset }, next: { part, offset: line.next }, line };
}
