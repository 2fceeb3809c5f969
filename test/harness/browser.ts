import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { prepareEditor } from './prepare.ts';

export interface BrowserOptions {
  /** Folder of the browser profile. It holds what windows remember (layout, mementos, trust): pass it again to reopen. */
  readonly profile: string;
  /** Size of the window in CSS pixels. Default 1280 x 800. */
  readonly size?: { readonly width: number; readonly height: number };
}

const SWITCHES = [
  '--no-sandbox', // tests run as root in containers
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Nothing leaves this machine. Webview resources have an address outside but are answered by a service worker.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/**
 * Starts a headless Chromium; close the returned context to end it. PI_LANES_TEST_BROWSER
 * names another Chromium or Chrome executable, which machines other than Linux on x64 need.
 */
export async function openBrowser(options: BrowserOptions): Promise<BrowserContext> {
  mkdirSync(options.profile, { recursive: true });
  return await chromium.launchPersistentContext(options.profile, {
    ...(await executable(options.profile)),
    headless: true,
    viewport: options.size ?? { width: 1280, height: 800 },
    args: SWITCHES,
    // Playwright's own handlers would keep the calling process alive after a signal.
    handleSIGHUP: false,
    handleSIGINT: false,
    handleSIGTERM: false,
  });
}

async function executable(profile: string): Promise<{ executablePath: string; env?: Record<string, string> }> {
  const named = process.env.PI_LANES_TEST_BROWSER;
  if (named) return { executablePath: named };
  const { chromium: folder } = await prepareEditor();
  if (!folder) throw new Error('there is no packaged Chromium for this machine: name one in PI_LANES_TEST_BROWSER');
  const libraries = [join(folder, 'lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':');
  const env = { LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: writeFontConfiguration(folder, profile) };
  return { executablePath: join(folder, 'chromium'), env: { ...definedEnvironment(), ...env } };
}

function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
}

/** The fonts that the browser brings, and only those: screenshots look alike on every machine. */
function writeFontConfiguration(chromiumFolder: string, profile: string): string {
  const fonts = join(chromiumFolder, 'fonts');
  if (!existsSync(fonts)) throw new Error(`the prepared browser has no fonts: ${fonts}`);
  const cache = join(profile, 'font-cache');
  mkdirSync(cache, { recursive: true });
  const families = Object.entries({
    monospace: 'DejaVu Sans Mono',
    'sans-serif': 'DejaVu Sans',
    'system-ui': 'DejaVu Sans',
    serif: 'DejaVu Serif',
  });
  const preferences = families.map(
    ([generic, font]) =>
      `<match><test name="family"><string>${generic}</string></test>` +
      `<edit name="family" mode="prepend" binding="strong"><string>${font}</string></edit></match>`,
  );
  const file = join(profile, 'fonts.conf');
  writeFileSync(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${fonts}</dir><cachedir>${cache}</cachedir>${preferences.join('')}</fontconfig>\n`,
  );
  return file;
}
