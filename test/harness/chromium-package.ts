import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

/** The parts of the package beside the browser: the libraries it links, software GL, and a proportional font. */
const ARCHIVES = ['al2023', 'swiftshader', 'fonts'];

/**
 * Unpacks the Chromium of `@sparticuz/chromium` into `target` (chromium, lib/, fonts/) and removes the package.
 * The package's own unpacking writes to the temp folder and leaves the libraries out anywhere but on AWS.
 */
export function unpackChromium(nodeModules: string, target: string): void {
  const packed = join(nodeModules, '@sparticuz', 'chromium', 'bin');
  mkdirSync(target);
  writeFileSync(join(target, 'chromium'), unbrotli(join(packed, 'chromium.br')), { mode: 0o755 });
  for (const name of ARCHIVES) {
    const archive = join(target, `${name}.tar`);
    writeFileSync(archive, unbrotli(join(packed, `${name}.tar.br`)));
    execFileSync('tar', ['-xf', archive, '-C', target]);
    rmSync(archive);
  }
  copyMonospaceFonts(join(nodeModules, 'dejavu-fonts-ttf', 'ttf'), join(target, 'fonts'));
  rmSync(join(nodeModules, '@sparticuz'), { recursive: true });
  rmSync(join(nodeModules, 'dejavu-fonts-ttf'), { recursive: true });
}

/** Without a monospace font the editor and the terminal are drawn with wide gaps. */
function copyMonospaceFonts(source: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const font of readdirSync(source)) copyFileSync(join(source, font), join(target, font));
}

function unbrotli(file: string): Buffer {
  return brotliDecompressSync(readFileSync(file));
}
