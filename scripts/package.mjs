// Builds minified bundles and packs them as a VSIX into artifacts/ (outside dist, so that the next one does not pack it).
// Prints the path. Usage: npm run package
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildAll, TYPESCRIPT_PLUGIN } from '../esbuild.mjs';
import { addToZip } from './add-to-zip.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The files that .vscodeignore lets into the package, relative to the root. */
export function packedFiles() {
  const lines = readFileSync(join(root, '.vscodeignore'), 'utf8').split(/\r?\n/);
  const patterns = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  return globSync(patterns, { cwd: root });
}

/**
 * Copies what is packed into a folder of its own. vsce holds each file of the folder it packs against each pattern, also those of
 * caches, which takes it minutes.
 * @returns the folder
 */
function stage() {
  const folder = join(root, 'artifacts', 'package');
  rmSync(folder, { recursive: true, force: true });
  for (const path of ['.vscodeignore', ...packedFiles()]) {
    const copy = join(folder, path);
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(join(root, path), copy);
  }
  return folder;
}

/** Packs the extension and returns the path of the VSIX. */
export async function packageExtension() {
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  await buildAll({ minify: true });
  const target = join(root, 'artifacts', `${name}-${version}.vsix`);
  mkdirSync(dirname(target), { recursive: true });
  rmSync(target, { force: true });
  const vsce = join(root, 'node_modules', '@vscode', 'vsce', 'vsce');
  const result = spawnSync(
    process.execPath,
    [
      vsce,
      'package',
      '--no-dependencies',
      '--allow-missing-repository',
      '--no-rewrite-relative-links',
      '--out',
      target,
    ],
    { cwd: stage(), encoding: 'utf8' },
  );
  if (result.status !== 0) throw new Error(`vsce failed:\n${result.stdout}${result.stderr}`);
  // vsce leaves every node_modules out when it packs without dependencies.
  addToZip(
    target,
    Object.entries(TYPESCRIPT_PLUGIN).map(([path, text]) => ({ name: `extension/${path}`, text })),
  );
  return target;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = await packageExtension();
  console.log(`${path} (${Math.round(statSync(path).size / 1024)} KB)`);
}
