import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** One file of a mirror. */
export interface MirrorFile {
  path: string;
  /** 0: the head; from 1: the segments after it. */
  number: number;
}

/** Path of the n-th segment (from 1) after the head of a transcript mirror. */
export function tailSegment(path: string, n: number): string {
  return path.replace(/\.jsonl$/, `.tail-${n}.jsonl`);
}

/** The files of a mirror that are there, in order. A gap in the numbers: what was between was dropped. */
export async function mirrorFiles(path: string): Promise<MirrorFile[]> {
  const names: string[] = await readdir(dirname(path)).catch(() => []);
  const prefix = `${basename(path, '.jsonl')}.tail-`;
  const segments = names
    .map((name) => (name.startsWith(prefix) ? Number(/^(\d+)\.jsonl$/.exec(name.slice(prefix.length))?.[1]) : 0))
    .filter((number) => number > 0)
    .sort((a, b) => a - b)
    .map((number) => ({ path: tailSegment(path, number), number }));
  return names.includes(basename(path)) ? [{ path, number: 0 }, ...segments] : segments;
}
