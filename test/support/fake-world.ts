/** A world in which a fake Pi works, for the tests of one file, and the count of what they leave behind. */
import { expect } from 'vitest';
import { endLeftovers } from './control-matrix-runs.ts';
import { createFakePi, type FakePi } from './fake-pi/index.ts';
import { tempDir } from './temp.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

export interface FakeWorld {
  fake: FakePi;
  world: World;
}

/** The stack removes it again. */
export async function fakeWorld(stack: AsyncDisposableStack, options: WorldOptions = {}): Promise<FakeWorld> {
  const folder = stack.use(await tempDir());
  const fake = stack.use(await createFakePi({ dir: folder.path }));
  return { fake, world: stack.use(await createWorld({ piPath: fake.folder, git: false, ...options })) };
}

/** Removes everything, and fails when a run of these worlds or a fake Pi still had a process. */
export async function expectNobodyLeft(
  stack: AsyncDisposableStack,
  { fake, world, others = [] }: FakeWorld & { others?: readonly World[] },
): Promise<void> {
  const runs = (await Promise.all([world, ...others].map(endLeftovers))).flat();
  const fakes = await fake.cleanup();
  await stack.disposeAsync();
  expect({ runs, fakes }).toEqual({ runs: [], fakes: [] });
}
