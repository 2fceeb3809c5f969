// Builds every bundle. `node esbuild.mjs [--minify] [--watch]`.
// dist/runtime.json names the files that detached runners execute and their content hash (see docs/architecture.md).
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { vmScripts } from './scripts/vm-script.mjs';

const root = dirname(fileURLToPath(import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Packages of which Node would take a form that loads its parts in a way no bundler sees. */
export const BUNDLED_AS = { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' };

/** What `pi-lanes` on the PATH of integrated terminals starts. */
const SHIMS = ['pi-lanes', 'pi-lanes.cmd'];

/** What `dist/api.js` offers, one after the other as `dist/api.d.ts`: they import types of each other alone, which is left out there. */
const API_TYPES = ['types.ts', 'workflow-execution-types.ts', 'agent-types.ts', 'model-types.ts', 'launch-types.ts'];

/**
 * tsserver finds plugins of an extension only in its node_modules. This one leads back to dist; it is written beside the packages of
 * a checkout, and put into the VSIX by scripts/package.mjs.
 */
export const TYPESCRIPT_PLUGIN = {
  'node_modules/pi-lanes-typescript/package.json':
    '{ "name": "pi-lanes-typescript", "version": "1.0.0", "main": "./index.js" }\n',
  'node_modules/pi-lanes-typescript/index.js': "module.exports = require('../../dist/typescript-plugin.cjs').init;\n",
};

/** Before anything else runs: an old Node would fail somewhere in the middle, without saying why. */
const NODE_CHECK =
  "if(process.versions.node.split('.').map(Number).reduce((v,n,i)=>v||(n===[22,19,0][i]?0:n-[22,19,0][i]),0)<0)" +
  "{console.error('pi-lanes needs Node 22.19 or newer; this is '+process.versions.node+'. Start it with a newer node; the command pi-lanes takes the one that PI_LANES_NODE names.');process.exit(2)}";

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

/**
 * Modules of protocol and core do nothing but define. Knowing that, a bundle leaves out those it does not use, with the packages that only
 * they need: making the schemas of the whole protocol takes 10 ms, which every start of a workflow would pay.
 */
const domainOnlyDefines = {
  name: 'domain-only-defines',
  setup(context) {
    const folders = ['protocol', 'core'].map((name) => join(root, 'src', name) + sep);
    context.onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir }) => {
      const file = resolve(resolveDir, path);
      return folders.some((folder) => file.startsWith(folder)) ? { path: file, sideEffects: false } : undefined;
    });
  },
};

/**
 * The runner is split: what it needs only on some platforms (execa, 16 MB of memory) or only for workflows is loaded at first use.
 * @returns the names of its files, which are copied to runtime/<hash>/ before a run starts
 */
async function buildRunner(options, outdir) {
  const { metafile } = await build({
    ...options,
    entryPoints: { runner: 'src/runner/main.ts' },
    outdir,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    metafile: true,
    chunkNames: 'runner-[hash]',
  });
  const files = Object.keys(metafile.outputs).map((path) => basename(path));
  return files.filter((name) => name.endsWith('.mjs')).sort();
}

/** The toolkit asks with an inline style whether `:focus-visible` is known, which the content security policy stops and reports. */
const focusVisibleIsKnown = {
  name: 'focus-visible-is-known',
  setup(context) {
    context.onLoad({ filter: /fast-web-utilities[\\/]dist[\\/]dom\.js$/ }, async ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const asking = 'export function canUseFocusVisible() {';
      if (!source.includes(asking)) throw new Error(`${path} has no canUseFocusVisible() any more`);
      return { contents: source.replace(asking, `${asking} return true;`) };
    });
  },
};

/** The pages that webviews show: one script and one style sheet each, without anything they would have to load. */
export async function buildPages({ minify = false, outdir = join(root, 'dist') } = {}) {
  await build({
    absWorkingDir: root,
    bundle: true,
    platform: 'browser',
    format: 'iife',
    target: 'chrome138', // of VS Code 1.106
    minify,
    sourcemap: false, // the content security policy lets nothing else be loaded
    legalComments: 'none',
    loader: { '.svg': 'text' },
    logLevel: 'warning',
    plugins: [englishOnly, focusVisibleIsKnown],
    entryPoints: { transcript: 'webview/transcript/main.ts' },
    outdir: join(outdir, 'webview'),
  });
}

/** The worker that runs workflow scripts, with the script engine beside it. */
export async function buildEngineWorker({ outdir, minify = false }) {
  await build({
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    minify,
    sourcemap: minify ? false : 'linked',
    logLevel: 'warning',
    plugins: [englishOnly, domainOnlyDefines, vmScripts],
    entryPoints: ['src/core/workflow/engine/worker.ts'],
    outfile: join(outdir, 'engine-worker.mjs'),
  });
  copyFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'), join(outdir, 'quickjs.wasm'));
}

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
    alias: BUNDLED_AS,
    define: { PI_LANES_VERSION: JSON.stringify(version) },
    logLevel: 'warning',
    plugins: [englishOnly, domainOnlyDefines, vmScripts],
  };
  // ESM bundles need `require` for the CommonJS packages inside them.
  const makeRequire = "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);";
  const esm = { ...common, format: 'esm', banner: { js: `${makeRequire}${NODE_CHECK}` } };
  const plainEsm = { ...common, format: 'esm' };
  const editor = {
    ...common,
    format: 'cjs',
    external: ['vscode'],
    entryPoints: ['src/extension/extension.ts'],
    outfile: join(outdir, 'extension.cjs'),
  };
  const typescriptPlugin = {
    ...common,
    format: 'cjs',
    entryPoints: ['src/typescript-plugin/plugin.ts'],
    outfile: join(outdir, 'typescript-plugin.cjs'),
  };
  const [runnerFiles] = await Promise.all([
    buildRunner(esm, outdir),
    ...(extension ? [build(editor), build(typescriptPlugin), buildPages({ minify, outdir })] : []),
    // Read by the editor's own Node: the check for an old one is not needed.
    build({
      ...plainEsm,
      entryPoints: ['src/transcript-worker/main.ts'],
      outfile: join(outdir, 'transcript-worker.mjs'),
    }),
    build({ ...esm, entryPoints: ['src/cli/main.ts'], outfile: join(outdir, 'cli.mjs') }),
    // Loaded by programs that are not ours, or in a thread of one that was checked: they must not end a process.
    build({
      ...plainEsm,
      entryPoints: ['src/core/workflow/validate-worker.ts'],
      outfile: join(outdir, 'validate-worker.mjs'),
    }),
    build({
      ...plainEsm,
      banner: { js: makeRequire },
      entryPoints: ['src/api/index.ts'],
      outfile: join(outdir, 'api.js'),
    }),
    // Loaded by Pi: small, because each child reads it anew.
    build({
      ...plainEsm,
      entryPoints: ['src/pi/child/main.ts'],
      outfile: join(outdir, 'pi-child.mjs'),
    }),
    build({
      ...plainEsm,
      entryPoints: ['src/pi/probe/main.ts'],
      outfile: join(outdir, 'pi-probe.mjs'),
    }),
    buildEngineWorker({ outdir, minify }),
  ]);
  const apiTypes = API_TYPES.map((name) =>
    readFileSync(join(root, 'src', 'api', name), 'utf8').replace(/^import type .*\n/gm, ''),
  );
  writeFileSync(join(outdir, 'api.d.ts'), apiTypes.join('\n'));
  if (extension) {
    copyFileSync(join(root, 'src', 'typescript-plugin', 'workflow.d.ts'), join(outdir, 'workflow.d.ts'));
  }
  if (outdir === join(root, 'dist')) {
    for (const [path, text] of Object.entries(TYPESCRIPT_PLUGIN)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  }
  mkdirSync(join(outdir, 'bin'));
  for (const name of SHIMS) {
    copyFileSync(join(root, 'scripts', 'shims', name), join(outdir, 'bin', name));
    chmodSync(join(outdir, 'bin', name), 0o755);
  }
  // What a runner executes: its own files, the extension of its children, and the engine it starts a thread with.
  const runtimeFiles = [...runnerFiles, 'pi-child.mjs', 'engine-worker.mjs', 'quickjs.wasm'];
  const hash = createHash('sha256').update(version);
  for (const file of runtimeFiles) hash.update(file).update(readFileSync(join(outdir, file)));
  writeFileSync(
    join(outdir, 'runtime.json'),
    `${JSON.stringify({ version, hash: hash.digest('hex').slice(0, 16), files: runtimeFiles })}\n`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll({ minify: process.argv.includes('--minify') });
