import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Native modules that would have to be compiled, and the plain scripts that take their place. */
const STAND_INS = { spdlog: 'spdlog.cjs', 'native-watchdog': 'native-watchdog.cjs' };

/** Lets VS Code write log files and fill output channels without compiled modules; `vscode` is code-server's `lib/vscode`. */
export function replaceNativeModules(vscode: string): void {
  for (const [name, script] of Object.entries(STAND_INS)) {
    const source = fileURLToPath(new URL(`stand-ins/${script}`, import.meta.url));
    copyFileSync(source, join(vscode, 'node_modules', '@vscode', name, 'index.js'));
  }
}
