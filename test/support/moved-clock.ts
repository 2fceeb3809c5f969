/** A Node whose wall clock can be moved while it runs; its monotonic clocks go on as they are. */
import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface MovedClock {
  /** Executable to be used as Node. */
  node: string;
  /** From now on every process of that Node sees this much added to the wall clock, in milliseconds. */
  move(offsetMs: number): Promise<void>;
}

/** @param folder where its files lie; belongs to the caller */
export async function movedClock(folder: string): Promise<MovedClock> {
  const offset = join(folder, 'offset');
  const hook = join(folder, 'moved-clock.mjs');
  const node = join(folder, 'node-with-moved-clock');
  await writeFile(offset, '0');
  await writeFile(
    hook,
    `import { readFileSync } from 'node:fs';
const RealDate = Date;
const shift = () => Number(readFileSync(${JSON.stringify(offset)}, 'utf8'));
globalThis.Date = class Date extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + shift());
    else super(...args);
  }
  static now() {
    return RealDate.now() + shift();
  }
};
`,
  );
  await writeFile(node, `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} --import ${JSON.stringify(hook)} "$@"\n`);
  await chmod(node, 0o755);
  return {
    node,
    // By rename: nobody reads half a number.
    move: async (offsetMs) => {
      await writeFile(`${offset}.new`, String(offsetMs));
      await rename(`${offset}.new`, offset);
    },
  };
}
