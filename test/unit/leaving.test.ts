/** A runner that is told to leave at the worst moment: its run comes to the end it was asked for. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ChildDriver, ChildEnd, ChildOutcome } from '../../src/core/children/index.ts';
import { connectSocket, newAddress, RpcPeer } from '../../src/core/ipc/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { projectLayout, runLayout } from '../../src/core/projects/index.ts';
import { type JournalEventType, RPC_VERSION } from '../../src/protocol/index.ts';
import { failed } from '../../src/runner/child-talk.ts';
import { RunnerLifecycle } from '../../src/runner/lifecycle.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { FakeChild } from './builders/child.ts';
import { aRecord } from './builders/run.ts';

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir();
});
afterEach(() => folder.remove());

/** Tells how far it came as soon as it is ended. */
class EndingChild extends FakeChild {
  readonly #work = Promise.withResolvers<ChildOutcome>();
  override readonly settled = this.#work.promise;
  override async end(): Promise<ChildEnd> {
    this.#work.resolve(failed({ code: 'child_exited', message: 'It exited.' }));
    return super.end();
  }
}

it.each([
  ['before', 'the wish is written'],
  ['after', 'the wish is written, and nothing follows from it yet'],
] as const)('%s: told when %s', async (moment, _) => {
  const project = projectLayout(folder.path);
  for (const path of [project.runs, project.active]) await mkdir(path, { recursive: true });
  const record = aRecord();
  const { runId } = record;
  const log = join(folder.path, 'runner.log');
  await writeFile(log, '');
  const address = await newAddress({ XDG_RUNTIME_DIR: folder.path });
  const order = { kind: 'new' as const, runId, projectDirectory: folder.path, address, token: 'secret', log };
  const driver: ChildDriver = { start: async () => new EndingChild() };
  let left: Promise<void> | undefined;
  const fault = (type: JournalEventType, when: 'before' | 'after') => {
    if (type === 'control.requested' && when === moment) left = lifecycle.leave();
  };
  const lifecycle = new RunnerLifecycle(order, driver, { engine: '', fault });
  const lived = lifecycle.live();
  const peer = new RpcPeer(await waitFor('the socket', () => connectSocket(address, 1000).catch(() => undefined)));
  peer.listen();
  const deadlineMs = 10_000;
  const client = { kind: 'cli', version: 'test' } as const;
  await peer.request('hello', { token: 'secret', version: RPC_VERSION, client }, { deadlineMs });
  await peer.request('start', { record }, { deadlineMs });
  await peer.request('proceed', {}, { deadlineMs });
  const journal = runLayout(join(project.runs, runId)).journal;
  const types = async () => (await readJournal(journal)).lines.map(({ type }) => type);
  await waitFor('the child', async () => (await types()).includes('child.spawned'));
  const by = { kind: 'cli', id: 'test' } as const;
  expect(await peer.request('stop', { requestId: 'one', by }, { deadlineMs })).toEqual({ outcome: 'done' });
  await left;
  expect(left).toBeDefined();
  expect(await lived).toBe(0);
  expect((await readJournal(journal)).lines.at(-1)).toMatchObject({ type: 'run.ended', state: 'stopped' });
});
