// Builds every bundle. `node esbuild.mjs [--minify] [--watch]`.
// dist/runtime.json names the files that detached runners execute and their content hash (see docs/architecture.md).
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(fileURLToPath(import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Bundles a detached runner and its children execute; they are copied to runtime/<hash>/ before a run starts. */
const RUNTIME_FILES = ['runner.mjs'];

/** What `pi-lanes` on the PATH of integrated terminals starts. */
const SHIMS = ['pi-lanes', 'pi-lanes.cmd'];

/** Before anything else runs: an old Node would fail somewhere in the middle, without saying why. */
const NODE_CHECK =
  "if(process.versions.node.split('.').map(Number).reduce((v,n,i)=>v||(n===[22,19,0][i]?0:n-[22,19,0][i]),0)<0)" +
  "{console.error('pi-lanes needs Node 22.19 or newer; this is '+process.versions.node+'. Set PI_LANES_NODE to a newer one.');process.exit(2)}";

/** Zod's namespace carries its messages in forty languages; ours come from us. A dynamic import keeps them from being shaken out. */
const englishOnly = {
  name: 'english-only',
  setup(context) {
    context.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path }) => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: dirname(path),
    }));
  },
};

/** @param {{ minify?: boolean, outdir?: string, extension?: boolean }} [options] `extension: false` leaves the editor's bundle out */
export async function buildAll({ minify = false, outdir = join(root, 'dist'), extension = true } = {}) {
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  const common = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node22',
    minify,
    sourcemap: minify ? false : 'linked',
    loader: { '.md': 'text' },
    define: { PI_LANES_VERSION: JSON.stringify(version) },
    logLevel: 'warning',
    plugins: [englishOnly],
  };
  // ESM bundles need `require` for the CommonJS packages inside them.
  const esm = {
    ...common,
    format: 'esm',
    banner: { js: `import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);${NODE_CHECK}` },
  };
  const editor = {
    ...common,
    format: 'cjs',
    external: ['vscode'],
    entryPoints: ['src/extension/extension.ts'],
    outfile: join(outdir, 'extension.cjs'),
  };
  await Promise.all([
    ...(extension ? [build(editor)] : []),
    build({ ...esm, entryPoints: ['src/runner/main.ts'], outfile: join(outdir, 'runner.mjs') }),
    build({ ...esm, entryPoints: ['src/cli/main.ts'], outfile: join(outdir, 'cli.mjs') }),
  ]);
  mkdirSync(join(outdir, 'bin'));
  for (const name of SHIMS) {
    copyFileSync(join(root, 'scripts', 'shims', name), join(outdir, 'bin', name));
    chmodSync(join(outdir, 'bin', name), 0o755);
  }
  const hash = createHash('sha256').update(version);
  for (const file of RUNTIME_FILES) hash.update(file).update(readFileSync(join(outdir, file)));
  writeFileSync(
    join(outdir, 'runtime.json'),
    `${JSON.stringify({ version, hash: hash.digest('hex').slice(0, 16), files: RUNTIME_FILES })}\n`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll({ minify: process.argv.includes('--minify') });
