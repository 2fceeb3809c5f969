/** Lines by byte offset: the same from either side, wherever blocks and caps fall. */
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FileLine, linesBackward, linesForward } from '../../../src/core/transcripts/panel/file-lines.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';

let folder: TempDir;
beforeAll(async () => {
  folder = await tempDir();
});
afterAll(() => folder.remove());

const KB = 1024;
/** Around the sizes of blocks and of the cap. */
const length = fc.oneof(
  fc.nat(5),
  ...[32 * KB, 64 * KB, 256 * KB, 288 * KB].map((size) => fc.integer({ min: size - 3, max: size + 3 })),
);
const contents = fc.tuple(fc.array(length, { maxLength: 8 }), fc.boolean());
const CAP = 64 * KB;

const brief = ({ data, head, tail, ...line }: FileLine) => ({
  ...line,
  data: data === undefined ? undefined : data.toString('latin1').slice(0, 20),
  head: head.toString('latin1').slice(0, 20),
  tail: tail.toString('latin1').slice(-20),
});

async function all(lines: AsyncGenerator<FileLine[]>): Promise<ReturnType<typeof brief>[]> {
  const found: ReturnType<typeof brief>[] = [];
  for await (const some of lines) found.push(...some.map(brief));
  return found;
}

describe('lines', () => {
  it('are the same forward and backward, and are all there is', async () => {
    const path = join(folder.path, 'a.jsonl');
    await fc.assert(
      fc.asyncProperty(contents, async ([lengths, terminated]) => {
        const lines = lengths.map((bytes, index) => `${index}`.repeat(bytes).slice(0, bytes));
        const text = lines.join('\n') + (terminated ? '\n' : '');
        await writeFile(path, text);
        const handle = await open(path, 'r');
        try {
          const forward = await all(linesForward(handle, 0, text.length, CAP));
          expect(await all(linesBackward(handle, text.length, CAP))).toEqual(forward.toReversed());
          const full = lines.filter((line) => line !== '');
          expect(forward.map(({ bytes }) => bytes)).toEqual(full.map((line) => line.length));
          for (const [index, line] of forward.entries()) {
            const whole = full[index] ?? '';
            expect(text.slice(line.offset, line.offset + line.bytes)).toBe(whole);
            expect(line.data === undefined).toBe(whole.length > CAP);
            expect(whole.startsWith(line.head) && whole.endsWith(line.tail)).toBe(true);
            expect(line.next).toBe(line.offset + line.bytes + (line.terminated ? 1 : 0));
            expect(line.terminated).toBe(line.next < text.length || text.endsWith('\n'));
          }
        } finally {
          await handle.close();
        }
      }),
      { numRuns: 150 },
    );
  });
});
