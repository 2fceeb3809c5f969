/**
 * What a worktree costs in a repository of 20,000 files, beside git's own `worktree add`, and what keeping 1,000 changed files does.
 * Prints one line of JSON.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git, makeRepository } from '../support/repository.ts';
import { tempDir } from '../support/temp.ts';
import { Bench } from '../support/worktrees.ts';

const FILES = 20_000;
const FOLDERS = 200;
const CHANGED = 1000;
const ROUNDS = 3;

const pathOf = (n: number) => `src/folder-${n % FOLDERS}/file-${n}.ts`;
const content = (n: number, word: string) => `export const ${word}${n} = ${n};\n`.repeat(20);

async function timed<T>(times: number[], work: () => Promise<T>): Promise<T> {
  const from = performance.now();
  const value = await work();
  times.push(performance.now() - from);
  return value;
}

const folder = await tempDir();
try {
  const repository = join(folder.path, 'repo');
  await mkdir(join(folder.path, 'store'));
  const files = Object.fromEntries(Array.from({ length: FILES }, (_, n) => [pathOf(n), content(n, 'a')]));
  await makeRepository(repository, files);
  const bench = await Bench.make(repository, join(folder.path, 'store'), null);
  const bare: number[] = [];
  const allocated: number[] = [];
  const captured: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // Side by side, so that both see the same machine.
    const path = join(folder.path, `bare-${round}`);
    await timed(bare, () => git(repository, 'worktree', 'add', '--quiet', '-b', `bare-${round}`, path));
    const tree = await timed(allocated, () => bench.one());
    for (let n = 0; n < CHANGED; n++) await writeFile(join(tree.path, pathOf(n * (FILES / CHANGED))), content(n, 'b'));
    const { capture } = await timed(captured, () => bench.capture(tree));
    if (capture.patch?.files !== CHANGED) throw new Error(`${capture.patch?.files} files were kept`);
    // The next round captures anew instead of finding this one.
    await rm(bench.capturesOf(tree), { recursive: true });
  }
  const median = (times: number[]) => Math.round(times.sort((a, b) => a - b)[times.length >> 1] ?? 0);
  console.log(JSON.stringify({ bare: median(bare), allocate: median(allocated), capture: median(captured) }));
} finally {
  await folder.remove();
}
