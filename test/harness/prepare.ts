// Brings a real VS Code (server and workbench) and a real Chromium out of the npm registry: no root, no compiler, no
// browser download. Run `node test/harness/prepare.ts` to do it ahead of the tests; it does nothing when it is done.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { unpackChromium } from './chromium-package.ts';
import { cacheRoot } from './places.ts';
import { replaceNativeModules } from './stand-ins.ts';
import { trimCodeServer } from './trim.ts';

const CODE_SERVER = '4.139.1';
const CHROMIUM = '153.0.0';
const FONTS = '2.37.3';
/** Counts changes of what preparing does, so that a folder prepared by an older recipe is not taken for a current one. */
const RECIPE = 1;

/** VS Code's version inside CODE_SERVER. */
export const EDITOR_VERSION = '1.139.1';

export interface Editor {
  /** Folder of the code-server package. */
  readonly codeServer: string;
  /** Folder of Chromium with its libraries and fonts; absent on machines for which the package has no build. */
  readonly chromium?: string;
}

/** Installs the editor into the cache, once; returns where it is. Safe to call from several processes at a time. */
export async function prepareEditor(): Promise<Editor> {
  const key = `code-server-${CODE_SERVER}_chromium-${CHROMIUM}_${process.platform}-${process.arch}_r${RECIPE}`;
  const home = join(cacheRoot(), 'vscode', key);
  if (!existsSync(join(home, 'ready.json'))) await install(home);
  const paths: Editor = JSON.parse(readFileSync(join(home, 'ready.json'), 'utf8'));
  return {
    codeServer: join(home, paths.codeServer),
    ...(paths.chromium ? { chromium: join(home, paths.chromium) } : {}),
  };
}

/** Everything is built under another name and renamed at the end: a half-installed editor is never taken for a whole one. */
async function install(home: string): Promise<void> {
  const started = performance.now();
  removeAbandoned(home);
  const part = `${home}.part-${process.pid}`;
  mkdirSync(part, { recursive: true });
  writeFileSync(join(part, 'package.json'), '{"private":true}\n');

  const withChromium = process.platform === 'linux' && process.arch === 'x64';
  const packages = [`code-server@${CODE_SERVER}`];
  if (withChromium) packages.push(`@sparticuz/chromium@${CHROMIUM}`, `dejavu-fonts-ttf@${FONTS}`);
  say(`installing ${packages.join(', ')}…`);
  await npmInstall(part, packages);

  const vscode = join(part, 'node_modules', 'code-server', 'lib', 'vscode');
  // What code-server's own install script does. Not `npm ci`: its lock file is out of step with its package.json.
  await npmInstall(vscode, ['--omit=dev']);
  await npmInstall(join(vscode, 'extensions'), ['--omit=dev']);
  replaceNativeModules(vscode);
  trimCodeServer(vscode);
  if (withChromium) unpackChromium(join(part, 'node_modules'), join(part, 'chromium'));

  // Relative paths only: the cache may be moved or restored elsewhere.
  const paths: Editor = { codeServer: 'node_modules/code-server', ...(withChromium ? { chromium: 'chromium' } : {}) };
  writeFileSync(join(part, 'ready.json'), `${JSON.stringify(paths)}\n`);
  moveIntoPlace(part, home);
  say(`ready after ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

async function npmInstall(cwd: string, args: string[]): Promise<void> {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // NODE_ENV=production would leave optional platform packages and development parts out.
  await execa('npm', ['install', ...args, ...quiet], { cwd, env: { NODE_ENV: '' }, stdin: 'ignore', timeout: 600_000 });
}

function moveIntoPlace(part: string, home: string): void {
  try {
    renameSync(part, home);
  } catch (error) {
    if (!existsSync(join(home, 'ready.json'))) throw error;
    rmSync(part, { recursive: true, force: true }); // another process was first
  }
}

/** Removes what a killed earlier run left half done. */
function removeAbandoned(home: string): void {
  const parent = dirname(home);
  if (!existsSync(parent)) return;
  for (const name of readdirSync(parent)) {
    const pid = /\.part-(\d+)$/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function say(text: string): void {
  console.error(`[editor] ${text}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await prepareEditor();
