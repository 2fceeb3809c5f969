/** Entry of `runner.mjs`: the detached process that owns one run and is the only writer of it. */
import { join } from 'node:path';
import { PiDriver } from '../core/children/index.ts';
import { journalLimit } from '../core/journal/index.ts';
import { START_ENV, startOrder } from '../protocol/index.ts';
import { faultFrom } from './fault.ts';
import { RunnerLifecycle } from './lifecycle.ts';

async function main(): Promise<number> {
  const given = process.env[START_ENV];
  // No child may see the address and token of its own run's owner.
  delete process.env[START_ENV];
  const order = startOrder.safeParse(given === undefined ? undefined : JSON.parse(given));
  if (!order.success) {
    console.error(`pi-lanes runner: ${START_ENV} is missing or not valid; runners are started by Pi Lanes itself.`);
    return 2;
  }
  const fault = faultFrom(process.env['PI_LANES_FAULT']);
  // The terminal or window that started us may go away at any time.
  process.on('SIGHUP', () => undefined);
  const maxJournalBytes = journalLimit(process.env, (text) => console.error(`pi-lanes runner: ${text}`));
  // Beside this file, in the same copy of the bundle.
  const beside = (name: string) => join(import.meta.dirname, name);
  const driver = new PiDriver({ extension: beside('pi-child.mjs') });
  const lifecycle = new RunnerLifecycle(order.data, driver, {
    engine: beside('engine-worker.mjs'),
    fault,
    maxJournalBytes,
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // On, not once: a second one would end this process in the middle, and its children would be left.
    process.on(signal, () => {
      void lifecycle.leave().finally(() => process.exit(128 + (signal === 'SIGTERM' ? 15 : 2)));
    });
  }
  return lifecycle.live();
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? (error.stack ?? error.message) : error);
    process.exit(1);
  },
);
