import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** What a program needs to run at all; nothing that names accounts, keys, proxies or configuration of the person's own. */
const PASSED_ON = /^(PATH|LANG|LC_\w+|TZ|USER|LOGNAME|SHELL|SystemRoot|ComSpec|PATHEXT)$/i;

/** What a VS Code terminal sets and what would confuse a second VS Code. Test-CLI's own VSCODE_TEST_* must come through. */
const OF_ANOTHER_EDITOR = /^(VSCODE_(?!TEST_)|ELECTRON_|CODE_SERVER_)/;

/** Switches the marketplace off: without it every start of code-server asks for it over the network. */
const NO_GALLERY = { EXTENSIONS_GALLERY: '{"serviceUrl":"","controlUrl":"","recommendationsUrl":""}' };

/**
 * The environment of a server that knows nothing of the person who runs the tests: home, temp and runtime folders of
 * its own inside `folder`, and `extra` (which may override those). It is also the extension host's environment.
 */
export function closedEnvironment(folder: string, extra: Record<string, string> = {}): Record<string, string> {
  const home = join(folder, 'person');
  const temp = join(folder, 'temp');
  mkdirSync(home, { recursive: true });
  mkdirSync(temp, { recursive: true });
  const places = { HOME: home, USERPROFILE: home, TMPDIR: temp, TEMP: temp, TMP: temp, ...runtimeFolder(folder) };
  return { ...ownEnvironment((name) => PASSED_ON.test(name)), ...places, ...NO_GALLERY, ...extra };
}

/** The caller's environment without the traces of another VS Code, and `extra`. Sockets go to `folder` by default. */
export function inheritedEnvironment(folder: string, extra: Record<string, string> = {}): Record<string, string> {
  const passed = ownEnvironment((name) => !OF_ANOTHER_EDITOR.test(name));
  return { ...runtimeFolder(folder), ...passed, ...NO_GALLERY, ...extra };
}

/** VS Code leaves sockets in the temp folder when it has no runtime folder. */
function runtimeFolder(folder: string): { XDG_RUNTIME_DIR: string } {
  const runtime = join(folder, 'runtime');
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  return { XDG_RUNTIME_DIR: runtime };
}

function ownEnvironment(wanted: (name: string) => boolean): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined && wanted(name)) kept[name] = value;
  return kept;
}
