/** Vitest's setup for projects whose files need the bundles: they are built once, and each file gets a copy (`testBundles`). */
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildAll } from '../../esbuild.mjs';
import { tempDir } from './temp.ts';
import { BUILT_BUNDLES } from './world.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await tempDir();
  const outdir = join(folder.path, 'dist');
  const build = () => buildAll({ outdir, extension: false });
  await build();
  project.onTestsRerun(build);
  // The environment reaches the processes of the tests, and also what knows nothing of vitest.
  process.env[BUILT_BUNDLES] = outdir;
  return async () => {
    delete process.env[BUILT_BUNDLES];
    await folder.remove();
  };
}
