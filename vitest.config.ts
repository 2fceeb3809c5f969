import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { vmScriptsForVite } from './scripts/vm-script.mjs';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as { version: string };

/** Left alone, vitest keeps one core for itself: on two cores that would be one file at a time. */
const atLeastTwo = Math.max(2, availableParallelism() - 1);

/** Agent definitions are bundled as text (esbuild's `text` loader); this gives tests the same import. */
const markdownAsText = {
  name: 'markdown-as-text',
  transform(code: string, id: string) {
    return id.endsWith('.md') ? { code: `export default ${JSON.stringify(code)};`, map: null } : undefined;
  },
};

interface ProjectOptions {
  /** For a test or a hook, in milliseconds. */
  timeout: number;
  /** Files at a time. Each makes what it needs for itself: folders, home, agent folder, ports, browser. */
  workers: number;
  /** Of code alone, without other processes. */
  isPure?: boolean;
  /** Modules that prepare once what all files need. */
  setup?: string[];
  /** Modules that every file begins with. */
  perFile?: string[];
}

function project(name: string, { timeout, workers, isPure = false, setup = [], perFile = [] }: ProjectOptions) {
  return {
    plugins: [markdownAsText, vmScriptsForVite],
    define: { PI_LANES_VERSION: JSON.stringify(version) },
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      testTimeout: timeout,
      hookTimeout: timeout,
      fileParallelism: workers > 1,
      maxWorkers: workers,
      globalSetup: setup,
      setupFiles: perFile,
      // In continuous integration a test of real processes gets a second try, which its report names.
      retry: process.env['CI'] && !isPure ? 1 : 0,
    },
  };
}

export default defineConfig({
  test: {
    projects: [
      project('unit', { timeout: 20_000, workers: atLeastTwo, isPure: true }),
      project('panel', { timeout: 60_000, workers: 2 }),
      // These mostly wait for processes: two at a time take half as long, even on two cores.
      project('process', {
        timeout: 60_000,
        workers: 2,
        setup: ['test/support/build-once.ts'],
        perFile: ['test/support/second-try.ts'],
      }),
      project('git', { timeout: 60_000, workers: 2 }),
      project('e2e', {
        timeout: 180_000,
        workers: 2,
        setup: ['test/support/build-once.ts', 'test/e2e/install-once.ts'],
        perFile: ['test/support/second-try.ts'],
      }),
      // Pictures for people, made by `npm run shots`; no part of `npm test`.
      project('shots', { timeout: 600_000, workers: 1 }),
      // Measurements in the packaged extension, made by `npm run bench`; no part of `npm test`.
      project('measure', { timeout: 300_000, workers: 1 }),
    ],
  },
});
