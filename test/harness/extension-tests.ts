// Runs an extension's tests inside a real extension host: starts a server, opens a test window on it, passes the tests'
// output on and ends with their exit code. Takes the arguments of desktop `code`; see code.mjs.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { openBrowser } from './browser.ts';
import { createEditorHome, extensionHostLog, type Settings } from './home.ts';
import { hostLogText } from './host-log.ts';
import { projectRoot } from './places.ts';
import { EDITOR_VERSION } from './prepare.ts';
import { type EditorServer, startEditorServer } from './server.ts';
import { type Ending, verdict } from './verdict.ts';
import { workbenchUrl } from './workbench-url.ts';

const DEADLINE_MS = Number(process.env.PI_LANES_HOST_DEADLINE_MS || 600_000);
/** For the extension host to write its coverage after its window is gone. */
const COVERAGE_DEADLINE_MS = 5_000;

interface Request {
  readonly target: string | undefined;
  readonly development: string[];
  readonly tests: string;
  readonly userData: string | undefined;
}

function parse(args: string[]): Request {
  const values = (name: string) =>
    args.filter((arg) => arg.startsWith(`--${name}=`)).map((arg) => resolve(arg.slice(name.length + 3)));
  const [tests] = values('extensionTestsPath');
  const development = values('extensionDevelopmentPath');
  if (!tests || development.length === 0) {
    throw new Error('this stand-in for VS Code runs extension tests and nothing else');
  }
  const target = args.find((arg) => !arg.startsWith('-') && existsSync(arg));
  return { target, development, tests, userData: values('user-data-dir')[0] };
}

/** Settings that the caller has put into its own user data folder are honoured. */
function settingsOf(userData: string | undefined): Settings {
  const file = join(userData ?? '', 'User', 'settings.json');
  return userData && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

async function run(request: Request): Promise<number> {
  const home = createEditorHome({ settings: settingsOf(request.userData) });
  const proofFile = join(home.folder, 'proof.json');
  const env = { VSCODE_TEST_PROOF: proofFile, VSCODE_TEST_ENTRY: request.tests };
  let server: EditorServer | undefined;
  let browser: BrowserContext | undefined;
  const interrupted = interruption();
  let ending: Ending = {};
  try {
    server = await startEditorServer({ home, env, inheritEnvironment: true, driver: true });
    browser = await openBrowser({ profile: join(home.folder, 'browser') });
    const [page = await browser.newPage()] = browser.pages();
    ending = await Promise.race([runAndExplain(page, server, request), interrupted]);
    if (process.env.NODE_V8_COVERAGE) await closeWindow(page, server);
  } catch (error) {
    ending = { ...ending, trouble: String(error) };
  } finally {
    await browser?.close();
    await server?.stop();
  }
  const proof = existsSync(proofFile) ? JSON.parse(readFileSync(proofFile, 'utf8')) : undefined;
  home.remove();
  const { code, reason } = verdict(ending, proof);
  if (reason) console.error(reason);
  return code;
}

/** Resolves when someone wants the run to end; everything is then closed and removed as after any other end. */
function interruption(): Promise<Ending> {
  return new Promise((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.once(signal, () => done({ trouble: `ended by ${signal}` }));
    }
  });
}

/** Prints and pictures what there is to see when the tests do not come to an orderly end. */
async function runAndExplain(page: Page, server: EditorServer, request: Request): Promise<Ending> {
  const ending = await runInWindow(page, server, request);
  if (ending.trouble) {
    const picture = join(projectRoot, 'artifacts', 'extension-tests.png');
    await page.screenshot({ path: picture }).catch(() => {}); // the page may be the trouble
    console.error(server.output().slice(-2_000));
    console.error(extensionHostLog(server.home).slice(-2_000));
  }
  return ending;
}

/** Opens the test window and waits for the tests' end, or for the sign that it will never come. */
function runInWindow(page: Page, server: EditorServer, request: Request): Promise<Ending> {
  return new Promise((done, failed) => {
    const trouble = (text: string) => done({ trouble: text });
    const deadline = `the extension tests did not end within ${DEADLINE_MS / 1000} s (PI_LANES_HOST_DEADLINE_MS)`;
    setTimeout(() => trouble(deadline), DEADLINE_MS).unref();
    page.on('crash', () => trouble('the page of the workbench crashed'));
    server.onLine((line) => {
      // Half a second for the window to report an orderly end, after which the host exits as well.
      if (line.includes('Extension Host Process exited')) setTimeout(() => trouble(line), 500).unref();
    });
    const open = async () => {
      await page.exposeFunction('codeAutomationLog', printHostLog);
      await page.exposeFunction('codeAutomationExit', (code: number) => done({ code }));
      const target = targetOf(request.target);
      const tests = fileURLToPath(new URL('entry.cjs', import.meta.url));
      await page.goto(workbenchUrl(server.url, target, { development: request.development, tests }), {
        waitUntil: 'commit',
      });
    };
    open().catch(failed);
  });
}

function targetOf(path: string | undefined) {
  if (!path) return {};
  return statSync(path).isDirectory() ? { folder: path } : { workspace: path };
}

function printHostLog(type: string, args: unknown[]): void {
  const text = hostLogText(args);
  if (text !== undefined) (type === 'error' || type === 'warn' ? process.stderr : process.stdout).write(`${text}\n`);
}

async function closeWindow(page: Page, server: EditorServer): Promise<void> {
  const hostEnded = new Promise<void>((ended) => {
    server.onLine((line) => line.includes('Extension Host Process exited') && ended());
    setTimeout(ended, COVERAGE_DEADLINE_MS).unref();
  });
  await page.goto('about:blank');
  await hostEnded;
}

if (process.argv.includes('--version')) {
  console.log(`${EDITOR_VERSION}\nserver\n${process.arch}`);
} else {
  process.exitCode = await run(parse(process.argv.slice(2)));
}
