import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closedEnvironment, inheritedEnvironment } from './environment.ts';
import type { EditorHome } from './home.ts';
import { projectNode } from './places.ts';
import { prepareEditor } from './prepare.ts';

export interface ServerOptions {
  readonly home: EditorHome;
  /**
   * Default: the port this home had last, else any free one. The port is part of what a window remembers by: browsers
   * keep layout, mementos and trust per address.
   */
  readonly port?: number;
  /** Added to the environment of the server and so of the extension host. */
  readonly env?: Record<string, string>;
  /** Start from the caller's whole environment instead of a closed one. */
  readonly inheritEnvironment?: boolean;
  /** VS Code's smoke-test driver. Extension tests need it; it mutes notification toasts, so UI tests do without. */
  readonly driver?: boolean;
  readonly log?: 'info' | 'debug' | 'trace';
  /** Asked for by the page; absent: whoever reaches the port of this machine gets in. */
  readonly password?: string;
}

/** A running VS Code server, reachable from this machine only and without a password. */
export interface EditorServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly home: EditorHome;
  /** Everything the server has printed so far. */
  output(): string;
  /** Calls `listener` with each further line of output. */
  onLine(listener: (line: string) => void): void;
  /** Resolves when the server has ended, by itself or by `stop`. */
  readonly ended: Promise<void>;
  /** Ends the server, its extension hosts and terminals. What an extension detached from itself goes on. */
  stop(): Promise<void>;
}

const START_DEADLINE_MS = 30_000;
const STOP_DEADLINE_MS = 1_000;

/** Starts a server on a home. It ends with the calling process at the latest. */
export async function startEditorServer(options: ServerOptions): Promise<EditorServer> {
  const { home } = options;
  const editor = await prepareEditor();
  const env = options.inheritEnvironment
    ? inheritedEnvironment(home.folder, options.env)
    : closedEnvironment(home.folder, options.env);
  const guard = fileURLToPath(new URL('guard.mjs', import.meta.url));
  const entry = codeServerEntry(editor.codeServer);
  // Detached gives it a process group: file watchers and terminals would survive a signal to the server alone.
  const port = options.port ?? (await lastPort(home));
  const child = spawn(projectNode(), [guard, projectNode(), entry, ...serverArguments(options, port)], {
    env: options.password === undefined ? env : { ...env, PASSWORD: options.password },
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const output = collectOutput(child);
  const stop = () => stopGroup(child, ended);
  try {
    const url = await listening(output, ended);
    writeFileSync(portFile(home), new URL(url).port);
    return { url, home, output: output.text, onLine: output.onLine, ended, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** code-server's start script; `codeServer` is the package's folder. */
export function codeServerEntry(codeServer: string): string {
  return join(codeServer, 'out', 'node', 'entry.js');
}

/** The arguments that make code-server use a home and nothing else of this machine. */
export function homeArguments(home: EditorHome): string[] {
  const config = join(home.folder, 'config.yaml');
  return ['--user-data-dir', home.userData, '--extensions-dir', home.extensions, '--config', config];
}

function serverArguments(options: ServerOptions, port: number): string[] {
  return [
    ...homeArguments(options.home),
    ...['--auth', options.password === undefined ? 'none' : 'password', '--bind-addr', `127.0.0.1:${port}`],
    ...['--log', options.log ?? 'info'],
    ...['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override', '--ignore-last-opened'],
    ...(options.home.workspaceTrust ? [] : ['--disable-workspace-trust']),
    ...(options.driver ? ['--vscode-option', 'enable-smoke-test-driver'] : []),
  ];
}

function portFile(home: EditorHome): string {
  return join(home.folder, 'port');
}

/** The port this home had last, while it is free. */
async function lastPort(home: EditorHome): Promise<number> {
  const port = existsSync(portFile(home)) ? Number(readFileSync(portFile(home), 'utf8')) : 0;
  return port !== 0 && (await isFree(port)) ? port : 0;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

interface Output {
  text(): string;
  onLine(listener: (line: string) => void): void;
}

function collectOutput(child: ChildProcess): Output {
  const listeners: ((line: string) => void)[] = [];
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) for (const listener of listeners) listener(line);
    });
  }
  return { text: () => text, onLine: (listener) => listeners.push(listener) };
}

function listening(output: Output, ended: Promise<void>): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (what: string) => reject(new Error(`the VS Code server ${what}\n${output.text()}`));
    const deadline = setTimeout(() => fail(`did not listen within ${START_DEADLINE_MS / 1000} s`), START_DEADLINE_MS);
    ended.then(() => {
      clearTimeout(deadline);
      fail('ended while starting');
    });
    output.onLine((line) => {
      const url = /HTTP server listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1];
      if (!url) return;
      clearTimeout(deadline);
      resolve(url);
    });
  });
}

async function stopGroup(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  signalGroup(child, 'SIGTERM');
  const slow = setTimeout(() => signalGroup(child, 'SIGKILL'), STOP_DEADLINE_MS);
  await ended;
  clearTimeout(slow);
  signalGroup(child, 'SIGKILL'); // what of the group outlived its leader
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid) process.kill(-child.pid, signal);
  } catch {
    child.kill(signal); // the group is empty, or this platform has none
  }
}
