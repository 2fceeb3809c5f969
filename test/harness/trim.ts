import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Parts of VS Code that no test uses: AI back ends, optional native modules that are not compiled here anyway. */
const UNUSED = [
  'extensions/copilot',
  'node_modules/@github',
  'node_modules/@microsoft/mxc-sdk',
  'node_modules/@vscode/sqlite3',
  'node_modules/@vscode/windows-process-tree',
];

/** Folders with one subfolder for each platform, of which one is used. */
const BY_PLATFORM = ['node_modules/node-pty/prebuilds', 'node_modules/@vscode/ripgrep-universal/bin'];

/** Makes an installed VS Code server about half as large; `vscode` is code-server's `lib/vscode`. */
export function trimCodeServer(vscode: string): void {
  for (const path of UNUSED) rmSync(join(vscode, path), { recursive: true, force: true });
  for (const path of BY_PLATFORM) {
    for (const platform of readdirSync(join(vscode, path))) {
      if (platform !== `${process.platform}-${process.arch}`) rmSync(join(vscode, path, platform), { recursive: true });
    }
  }
  for (const file of readdirSync(vscode, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.map')) rmSync(join(vscode, file), { force: true });
  }
}
