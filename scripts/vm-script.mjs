// Imports that end with `?vm` are code for the script engine: the module and what it imports, bundled into the text of one
// expression whose value is the default export. Used by the build (esbuild) and by the tests (vite).
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SUFFIX = /\?vm$/;

/** @returns the text of the bundle and the files it was made of */
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
  return { text, files: Object.keys(metafile.inputs).map((file) => resolve(file)) };
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
      const { text, files } = await bundleForVm(path);
      return { contents: `export default ${JSON.stringify(text)};`, watchFiles: files };
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
    const { text, files } = await bundleForVm(id.replace(SUFFIX, ''));
    for (const file of files) this.addWatchFile(file);
    return `export default ${JSON.stringify(text)};`;
  },
};
