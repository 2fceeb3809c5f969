// Builds the suites that run inside the extension host: each *.test.ts of test/host and test/bench becomes one file in
// out/test/host or out/test/bench.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { BUNDLED_AS } from '../esbuild.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

export async function buildHostTests() {
  await Promise.all([buildSuites('host'), buildSuites('bench')]);
}

async function buildSuites(name) {
  const source = join(root, 'test', name);
  const outdir = join(root, 'out', 'test', name);
  rmSync(outdir, { recursive: true, force: true });
  const suites = readdirSync(source).filter((file) => file.endsWith('.test.ts'));
  if (suites.length === 0) throw new Error(`no suites in ${source}`);
  await build({
    absWorkingDir: root,
    entryPoints: suites.map((file) => join(source, file)),
    outdir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    // Mocha must be the copy that runs the suite, and vscode exists only inside the host.
    external: ['vscode', 'mocha'],
    loader: { '.md': 'text' },
    alias: BUNDLED_AS,
    define: { PI_LANES_VERSION: JSON.stringify(version) },
    sourcemap: 'inline',
    logLevel: 'warning',
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildHostTests();
