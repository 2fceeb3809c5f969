import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Path of the n-th segment (from 1) after the head of a transcript mirror. */
export function tailSegment(path: string, n: number): string {
  return path.replace(/\.jsonl$/, `.tail-${n}.jsonl`);
}

/** The files of a mirror in order: the head, then the segments that are still there, with a mark where some were dropped. */
export async function mirrorFiles(path: string): Promise<{ files: string[]; dropped: number }> {
  const stem = basename(path, '.jsonl');
  const names: string[] = await readdir(dirname(path)).catch(() => []);
  const numbers = names
    .map((name) => (name.startsWith(`${stem}.tail-`) ? Number(/\.tail-(\d+)\.jsonl$/.exec(name)?.[1]) : Number.NaN))
    .filter((n) => n > 0)
    .sort((a, b) => a - b);
  const files = names.includes(basename(path)) ? [path] : [];
  return {
    files: [...files, ...numbers.map((n) => join(dirname(path), basename(tailSegment(path, n))))],
    dropped: (numbers[0] ?? 1) - 1,
  };
}
