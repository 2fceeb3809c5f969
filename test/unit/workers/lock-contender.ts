/**
 * A process that wants a lock. `cycle <lock> <section> <rounds>`: takes it again and again and prints, for each round, its
 * epoch; fails when somebody else is in the section at the same time. `once <lock>`: prints `epoch` or the error's code,
 * and keeps what it has until its stdin ends.
 */
import { appendFile, open, rm } from 'node:fs/promises';
import { acquireLock, waitForLock } from '../../../src/core/locks/index.ts';
import { toErrorValue } from '../../../src/protocol/index.ts';

const [mode, path = '', section = '', rounds = '0'] = process.argv.slice(2);

if (mode === 'cycle') {
  for (let round = 0; round < Number(rounds); round++) {
    const lock = await waitForLock(path, { purpose: `contender ${process.pid}`, deadlineMs: 30_000 });
    // Fails with EEXIST when the section is not empty.
    await (await open(section, 'wx')).close();
    await appendFile(`${section}.log`, `${lock.owner.epoch}\n`);
    if (!(await lock.stillHeld())) throw new Error(`epoch ${lock.owner.epoch} was taken away`);
    await rm(section);
    await lock.release();
  }
} else {
  await acquireLock(path, { purpose: 'contender' }).then(
    (lock) => process.stdout.write(`${lock.owner.epoch}\n`),
    (error: unknown) => process.stdout.write(`${toErrorValue(error).code}\n`),
  );
  for await (const _ of process.stdin);
}
