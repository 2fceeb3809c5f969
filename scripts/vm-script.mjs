// Imports that end with `?vm` are code for the script engine: the module and what it imports, bundled into the text of one
// expression whose value is the default export, and compiled, which takes 25 ms that no start of a workflow should pay. The
// bytecode fits only the engine it was made by; build and tests take both from the same package. Used by esbuild and by vite.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SUFFIX = /\?vm$/;

/** What compiles: no script ever runs in it. */
let compiler;

/** @returns bytecode as base64 */
async function compile(text) {
  compiler ??= (async () => {
    const require = createRequire(import.meta.url);
    const { EvalFlags, CompileFlags, MAX_STACK_SIZE, QuickJS } = await import('quickjs-wasi');
    const wasm = readFileSync(require.resolve('quickjs-wasi/quickjs.wasm'));
    const vm = await QuickJS.create({ wasm, maxStackSize: MAX_STACK_SIZE });
    return (source) => vm.compile(source, 'engine', EvalFlags.STRICT, CompileFlags.STRIP_SOURCE);
  })();
  return Buffer.from((await compiler)(text)).toString('base64');
}

/** @returns the module that stands for the bundle, and the files it was made of */
export async function bundleForVm(path) {
  const { outputFiles, metafile } = await build({
    entryPoints: [path],
    bundle: true,
    metafile: true,
    write: false,
    format: 'iife',
    globalName: 'realm',
    platform: 'neutral',
    target: 'esnext',
    // Names of functions stay as they are written: scripts can see them.
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: 'warning',
  });
  const text = `(()=>{${outputFiles[0].text};return realm.default})()`;
  const code = `export default ${JSON.stringify({ text, bytecode: await compile(text) })};`;
  return { code, files: Object.keys(metafile.inputs).map((file) => resolve(file)) };
}

/** For esbuild. */
export const vmScripts = {
  name: 'vm-scripts',
  setup(context) {
    context.onResolve({ filter: SUFFIX }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.replace(SUFFIX, '')),
      namespace: 'vm-script',
    }));
    context.onLoad({ filter: /.*/, namespace: 'vm-script' }, async ({ path }) => {
      const { code, files } = await bundleForVm(path);
      return { contents: code, watchFiles: files };
    });
  },
};

/** For vite and vitest. */
export const vmScriptsForVite = {
  name: 'vm-scripts',
  enforce: 'pre',
  // The bundle changes with every file it is made of; vitest's cache would look only at the first.
  configureVitest({ defineCacheKeyGenerator }) {
    defineCacheKeyGenerator(({ id }) => (SUFFIX.test(id) ? false : undefined));
  },
  resolveId(id, importer) {
    if (!SUFFIX.test(id)) return undefined;
    if (importer && id.startsWith('.')) return resolve(dirname(importer), id);
    // A module from vitest's cache names it from the root of the project.
    return existsSync(id.replace(SUFFIX, '')) ? id : join(root, id);
  },
  async load(id) {
    if (!SUFFIX.test(id)) return undefined;
    const { code, files } = await bundleForVm(id.replace(SUFFIX, ''));
    for (const file of files) this.addWatchFile(file);
    return code;
  },
};
