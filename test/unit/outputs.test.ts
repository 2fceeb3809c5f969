/** The file an answer is also written to. */
import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkOutput, OutputClaim, realOutputPath } from '../../src/core/outputs/index.ts';
import { LanesError } from '../../src/protocol/index.ts';
import { projectRoot } from '../support/project-root.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

let dir: TempDir;
let claims: string;
beforeEach(async () => {
  dir = await tempDir({ name: 'awkward' });
  claims = join(dir.path, 'claims');
});
afterEach(() => dir.remove());

const at = (...names: string[]) => join(dir.path, ...names);
const take = (path: string, holder = 'run one') => OutputClaim.take(claims, path, holder);

async function refusal(work: Promise<unknown>): Promise<LanesError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof LanesError)) throw new Error(`not refused: ${error}`);
  return error;
}

describe('the real path', () => {
  test('goes through links, and parts that do not exist yet stay as they are', async () => {
    await mkdir(at('real'));
    await symlink(at('real'), at('link'));
    expect(await realOutputPath(at('real', 'a.md'))).toBe(at('real', 'a.md'));
    expect(await realOutputPath(at('link', 'a.md'))).toBe(at('real', 'a.md'));
    expect(await realOutputPath(at('link', 'x', 'y', 'a.md'))).toBe(at('real', 'x', 'y', 'a.md'));
    expect(await realOutputPath(at('real', '..', 'link', '.', 'a.md'))).toBe(at('real', 'a.md'));
    await writeFile(at('real', 'b.md'), 'x');
    await symlink(at('real', 'b.md'), at('file-link.md'));
    expect(await realOutputPath(at('file-link.md'))).toBe(at('real', 'b.md'));
  });

  test('that cannot be looked at is refused: below a file, in a circle of links', async () => {
    await writeFile(at('file'), 'x');
    await symlink(at('circle'), at('circle'));
    for (const path of [at('file', 'a.md'), at('file', 'deep', 'a.md'), at('circle', 'a.md')]) {
      for (const work of [realOutputPath, take, (one: string) => checkOutput(claims, one)]) {
        const error = await refusal(work(path));
        expect(error.code).toBe('output_unusable');
        expect(error.message).toContain(path);
      }
    }
  });

  test.skipIf(process.getuid?.() !== 0)(
    'in a folder where nothing may be made is refused before the work',
    async () => {
      await chmod(dir.path, 0o755);
      await mkdir(at('closed'), { mode: 0o755 });
      // As somebody who is not root, to whom every folder is open.
      const module = join(projectRoot(), 'src/core/outputs/output-file.ts');
      const ask = (path: string) =>
        promisify(execFile)(
          process.execPath,
          [
            '-e',
            `import(${JSON.stringify(module)}).then((m) => m.checkOutput(${JSON.stringify(claims)}, ${JSON.stringify(path)})).then(console.log, (e) => console.log(e.code, e.message))`,
          ],
          { uid: 65534, gid: 65534 },
        ).then(({ stdout }) => stdout.trim());
      for (const path of [at('closed', 'a.md'), at('closed', 'deep', 'er', 'a.md')]) {
        expect(await ask(path)).toMatch(/^output_unusable .*EACCES/);
      }
      await mkdir(at('open'), { mode: 0o777 });
      await chmod(at('open'), 0o777);
      expect(await ask(at('open', 'deep', 'a.md'))).toBe(at('open', 'deep', 'a.md'));
    },
  );

  test('behind links that lead to nothing yet is the file they lead to', async () => {
    await mkdir(at('real'));
    await symlink('real/there.md', at('link.md'));
    await symlink('link.md', at('far.md'));
    await symlink('nowhere', at('folder'));
    expect(await realOutputPath(at('far.md'))).toBe(at('real', 'there.md'));
    expect(await realOutputPath(at('folder', 'a.md'))).toBe(at('nowhere', 'a.md'));
    const claim = await take(at('link.md'));
    expect((await refusal(take(at('real', 'there.md')))).code).toBe('output_in_use');
    expect(await claim.settle('text')).toMatchObject({ outcome: 'saved' });
    expect(await readFile(at('real', 'there.md'), 'utf8')).toBe('text');
    expect((await lstat(at('link.md'))).isSymbolicLink()).toBe(true);
    await claim.release();
  });

  test.skipIf(process.platform !== 'linux')('where no folder can be made fails, and ends', async () => {
    const claim = await take('/proc/pi-lanes/deep/a.md');
    expect(await claim.settle('text')).toMatchObject({ outcome: 'failed', error: expect.stringContaining('ENOENT') });
    await claim.release();
  });

  test('of a folder is refused', async () => {
    await mkdir(at('folder'));
    for (const work of [take, (path: string) => checkOutput(claims, path)]) {
      expect(await refusal(work(at('folder')))).toMatchObject({
        code: 'output_unusable',
        message: `The output ${at('folder')} is not a file.`,
      });
    }
  });
});

describe('the claim', () => {
  test('is exclusive, by whatever path the file is named, and names its holder', async () => {
    await mkdir(at('real'));
    await symlink(at('real'), at('link'));
    const claim = await take(at('real', 'a.md'), 'run 0198');
    expect(claim.path).toBe(at('real', 'a.md'));
    for (const path of [at('real', 'a.md'), at('link', 'a.md')]) {
      for (const work of [take, (one: string) => checkOutput(claims, one)]) {
        expect(await refusal(work(path))).toMatchObject({
          code: 'output_in_use',
          message: `The output file ${at('real', 'a.md')} is already claimed by run 0198.`,
        });
      }
    }
    expect(await checkOutput(claims, at('real', 'b.md'))).toBe(at('real', 'b.md'));
    await claim.release();
    expect(await checkOutput(claims, at('link', 'a.md'))).toBe(at('real', 'a.md'));
    await (await take(at('link', 'a.md'), 'run two')).release();
  });

  test('of ten at once one succeeds', async () => {
    const tries = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => take(at('a.md'), `run ${n}`)));
    expect(tries.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    for (const one of tries) {
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'output_in_use' });
      else await one.value.release();
    }
  });

  test('looking alone makes nothing', async () => {
    await checkOutput(claims, at('new', 'a.md'));
    expect(await readdir(dir.path)).toEqual([]);
  });
});

describe('the end of the work', () => {
  test('the answer is written, missing folders are made, no other file stays behind', async () => {
    const claim = await take(at('new', 'deep', 'a.md'));
    const text = 'Größe 漢字 \u{1F98A}\n';
    expect(await claim.settle(text)).toEqual({ outcome: 'saved', bytes: Buffer.byteLength(text), error: null });
    expect(await readFile(at('new', 'deep', 'a.md'), 'utf8')).toBe(text);
    expect(await readdir(at('new', 'deep'))).toEqual(['a.md']);
    // It is the person's file, not one of ours.
    expect((await stat(at('new', 'deep', 'a.md'))).mode & 0o777 & ~0o022).toBe(0o644);
    await claim.release();
  });

  test('a file that was there before is replaced', async () => {
    await writeFile(at('a.md'), 'old and longer than the new text');
    const claim = await take(at('a.md'));
    expect(await claim.settle('new')).toEqual({ outcome: 'saved', bytes: 3, error: null });
    expect(await readFile(at('a.md'), 'utf8')).toBe('new');
    await claim.release();
  });

  test('what the child wrote itself wins: a new file, another size, a later time, another file of that name', async () => {
    const original = 'before';
    const changes: [string, () => Promise<unknown>][] = [
      ['written anew', () => writeFile(at('a.md'), 'by the child')],
      ['same size', () => writeFile(at('a.md'), 'BEFORE').then(() => utimes(at('a.md'), 1000, 2000))],
      ['replaced', () => writeFile(at('b.md'), original).then(() => rename(at('b.md'), at('a.md')))],
    ];
    for (const [name, change] of changes) {
      await writeFile(at('a.md'), original);
      const claim = await take(at('a.md'));
      await change();
      const own = await readFile(at('a.md'), 'utf8');
      expect(await claim.settle('captured'), name).toEqual({ outcome: 'kept', bytes: own.length, error: null });
      expect(await readFile(at('a.md'), 'utf8')).toBe(own);
      await claim.release();
    }
    await rm(at('a.md'));
    const claim = await take(at('a.md'));
    await writeFile(at('a.md'), '');
    expect(await claim.settle('captured')).toEqual({ outcome: 'kept', bytes: 0, error: null });
    await claim.release();
  });

  test('a file that the child removed is written', async () => {
    await writeFile(at('a.md'), 'before');
    const claim = await take(at('a.md'));
    await rm(at('a.md'));
    expect(await claim.settle('captured')).toMatchObject({ outcome: 'saved' });
    expect(await readFile(at('a.md'), 'utf8')).toBe('captured');
    await claim.release();
  });

  test('what an attempt wrote that failed does not count for the next', async () => {
    const claim = await take(at('a.md'));
    await writeFile(at('a.md'), 'half of the first attempt');
    await claim.renew();
    expect(await claim.settle('the answer')).toMatchObject({ outcome: 'saved' });
    expect(await readFile(at('a.md'), 'utf8')).toBe('the answer');
    await claim.release();
  });

  test('what the file looked like at an earlier claim of the same work is what counts', async () => {
    await writeFile(at('a.md'), 'before');
    const first = await take(at('a.md'));
    await first.release();
    await writeFile(at('a.md'), 'by the child, before a crash');
    const again = await OutputClaim.take(claims, at('a.md'), 'run one', first.before);
    expect(again.before).toEqual(first.before);
    expect(await again.settle('captured')).toMatchObject({ outcome: 'kept' });
    await again.release();
    // It was not there at all.
    const third = await OutputClaim.take(claims, at('a.md'), 'run one', null);
    expect(await third.settle('captured')).toMatchObject({ outcome: 'kept' });
    await third.release();
    expect(await readFile(at('a.md'), 'utf8')).toBe('by the child, before a crash');
  });

  test('a folder that was removed meanwhile is made again', async () => {
    await mkdir(at('folder'));
    const claim = await take(at('folder', 'a.md'));
    await rm(at('folder'), { recursive: true });
    expect(await claim.settle('text')).toMatchObject({ outcome: 'saved' });
    expect(await readFile(at('folder', 'a.md'), 'utf8')).toBe('text');
    await claim.release();
  });

  test('a folder that was turned into a link leads nowhere: refused, and nothing is written behind it', async () => {
    await mkdir(at('folder'));
    await mkdir(at('elsewhere'));
    const claim = await take(at('folder', 'a.md'));
    await rm(at('folder'), { recursive: true });
    await symlink(at('elsewhere'), at('folder'));
    expect(await claim.settle('text')).toEqual({
      outcome: 'failed',
      bytes: 0,
      error: 'its folder now leads to another place',
    });
    expect(await readdir(at('elsewhere'))).toEqual([]);
    await claim.release();
  });

  test('a file that was turned into a link is not written through', async () => {
    await writeFile(at('secret'), 'secret');
    const claim = await take(at('a.md'));
    await symlink(at('secret'), at('a.md'));
    expect(await claim.settle('text')).toMatchObject({ outcome: 'failed' });
    expect(await readFile(at('secret'), 'utf8')).toBe('secret');
    await claim.release();
  });

  test('failures are told, never thrown', async () => {
    const claim = await take(at('folder', 'a.md'));
    await writeFile(at('folder'), 'a file where the folder should be');
    expect(await claim.settle('text')).toMatchObject({
      outcome: 'failed',
      bytes: 0,
      error: expect.stringMatching(/not a directory|ENOTDIR/i),
    });
    await claim.release();
    const other = await take(at('b.md'));
    await mkdir(at('b.md'));
    expect(await other.settle('text')).toMatchObject({
      outcome: 'failed',
      error: expect.stringContaining('is not a file'),
    });
    await other.release();
  });
});

describe('a failure', () => {
  test('writes its reason where there was no file, and leaves a file that was there', async () => {
    await writeFile(at('old.md'), 'the answer of yesterday');
    const old = await take(at('old.md'));
    expect(await old.settle('[no answer: x]\n', { stub: true })).toMatchObject({ outcome: 'kept', bytes: 23 });
    expect(await readFile(at('old.md'), 'utf8')).toBe('the answer of yesterday');
    const fresh = await take(at('new.md'));
    expect(await fresh.settle('[no answer: x]\n', { stub: true })).toMatchObject({ outcome: 'saved' });
    expect(await readFile(at('new.md'), 'utf8')).toBe('[no answer: x]\n');
  });
});

describe('a claim that is lent', () => {
  test('is for one at a time, and its end gives nothing back', async () => {
    const claim = await take(at('report.md'), 'the result');
    const lent = await claim.lend();
    expect((await refusal(claim.lend())).message).toContain('the result');
    await lent.release();
    const again = await claim.lend();
    expect((await refusal(take(at('report.md'), 'another'))).code).toBe('output_in_use');
    await again.release();
    expect((await refusal(take(at('report.md'), 'another'))).code).toBe('output_in_use');
    await claim.release();
    await (await take(at('report.md'), 'another')).release();
  });

  test('what the borrower writes stays, except that there is nothing', async () => {
    const claim = await take(at('report.md'));
    const silent = await claim.lend();
    expect(await silent.settle('[no answer]', { stub: true })).toMatchObject({ outcome: 'failed' });
    await silent.release();
    expect(await readdir(dir.path)).not.toContain('report.md');
    const lent = await claim.lend();
    expect(await lent.settle('of the child')).toMatchObject({ outcome: 'saved' });
    await lent.release();
    expect(await claim.settle('of all', { again: true })).toMatchObject({ outcome: 'kept', bytes: 12 });
    expect(await readFile(at('report.md'), 'utf8')).toBe('of the child');
    await claim.release();
  });
});

test('what an earlier one has written in the same words is left as it is', async () => {
  const first = await take(at('report.md'));
  await first.settle('Größe');
  const { ino, mtimeMs } = await stat(at('report.md'));
  await first.release();
  const second = await OutputClaim.take(claims, at('report.md'), 'run one', null);
  expect(await second.settle('Größe', { again: true })).toEqual({ outcome: 'saved', bytes: 7, error: null });
  expect(await stat(at('report.md'))).toMatchObject({ ino, mtimeMs });
  // Other words of the same length are somebody's own.
  expect(await second.settle('Grüße', { again: true })).toMatchObject({ outcome: 'kept' });
  await second.release();
});
