/** An npm registry of our own with one package, so that a real npm can install "Pi" without the network. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { piCli } from './pi-versions.ts';
import { tempDir } from './temp.ts';

const run = promisify(execFile);
const NAME = '@earendil-works/pi-coding-agent';

export interface NpmRegistry extends AsyncDisposable {
  readonly url: string;
  /** How often the package itself was fetched. */
  readonly downloads: number;
  /** `refuse`: the package is not given out. `stall`: its answer never ends. */
  behave(how: 'normally' | 'refuse' | 'stall'): void;
  /** Configures npm for the person whose home folder this is; its cache is there too. */
  configure(home: string): Promise<void>;
}

/**
 * Has versions 1.5.9, 1.6.0 and 1.7.0 of a package by Pi's name. It holds a script that goes on to the development copy
 * of Pi 1.6, so that what is installed from here is a Pi that works.
 */
export async function startNpmRegistry(): Promise<NpmRegistry> {
  const stack = new AsyncDisposableStack();
  const temp = stack.use(await tempDir());
  const tarball = await packStandIn(temp.path);
  let manner: 'normally' | 'refuse' | 'stall' = 'normally';
  let downloads = 0;
  const server = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) {
      downloads += 1;
      if (manner === 'refuse') response.writeHead(404).end();
      else if (manner === 'stall') response.writeHead(200).write(tarball.subarray(0, 100));
      else response.writeHead(200).end(tarball);
    } else if (decodeURIComponent(request.url ?? '') === `/${NAME}`) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(packument(url(), tarball));
    } else response.writeHead(404).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const url = () => {
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  };
  return {
    url: url(),
    get downloads() {
      return downloads;
    },
    behave: (how) => {
      manner = how;
    },
    configure: (home) =>
      writeFile(
        join(home, '.npmrc'),
        `registry=${url()}/\ncache=${join(home, 'npm-cache')}\nfetch-retries=0\nupdate-notifier=false\n`,
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function packStandIn(folder: string): Promise<Buffer> {
  const source = join(folder, 'source');
  await mkdir(source);
  const manifest = { name: NAME, version: '1.6.0', type: 'module', bin: { pi: 'cli.mjs' } };
  await writeFile(join(source, 'package.json'), JSON.stringify(manifest));
  const pi = pathToFileURL(await piCli('1.6')).href;
  await writeFile(join(source, 'cli.mjs'), `#!/usr/bin/env node\nawait import(${JSON.stringify(pi)});\n`);
  // npm is a batch file on Windows, which only a shell starts; nothing here needs quoting.
  const shell = process.platform === 'win32';
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--loglevel=error'], {
    cwd: source,
    shell,
  });
  const name = /"filename":\s*"([^"]+\.tgz)"/.exec(stdout)?.[1]?.replace('@', '').replace('/', '-');
  return readFile(join(source, name ?? ''));
}

function packument(url: string, tarball: Buffer): string {
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const versions = ['1.5.9', '1.6.0', '1.7.0'].map((version) => {
    const dist = { tarball: `${url}/${NAME}/-/pi-${version}.tgz`, integrity };
    return [version, { name: NAME, version, bin: { pi: 'cli.mjs' }, dist }];
  });
  return JSON.stringify({ name: NAME, 'dist-tags': { latest: '1.7.0' }, versions: Object.fromEntries(versions) });
}

/** The environment of somebody who has npm and Node, but no Pi. */
export function withoutPi(env: Record<string, string>): Record<string, string> {
  const { PI_LANES_PI: _, ...rest } = env;
  const folders = (env['PATH'] ?? '').split(delimiter);
  const hasPi = (folder: string) => ['pi', 'pi.cmd', 'pi.exe'].some((name) => existsSync(join(folder, name)));
  return { ...rest, PATH: folders.filter((folder) => !hasPi(folder)).join(delimiter) };
}
