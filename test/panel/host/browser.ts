/** One browser and one build of the page for all tests of a file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { buildPages } from '../../../esbuild.mjs';
import { openBrowser } from '../../harness/browser.ts';
import { type PanelOptions, PanelPage } from './panel-page.ts';

/** Call it at the top level of a file of tests; gives pages that are closed after each test. */
export function panelBrowser(): (options?: Omit<PanelOptions, 'dist'>) => Promise<PanelPage> {
  const temp = mkdtempSync(join(tmpdir(), 'pi-lanes-panel-'));
  let browser: BrowserContext | undefined;
  const open: PanelPage[] = [];

  beforeAll(async () => {
    await buildPages({ minify: true, outdir: temp });
    browser = await openBrowser({ profile: join(temp, 'profile') });
  });

  afterEach(async ({ task }) => {
    const pages = open.splice(0);
    for (const panel of pages) {
      if (task.result?.state === 'fail') {
        await panel.screenshot(`FAILED-${task.name.replaceAll(/[^\p{L}\p{N}]+/gu, '-')}`).catch(() => {});
      }
      await panel[Symbol.asyncDispose]();
    }
    // Whatever a page shows, nothing of it is stopped by the policy, because nothing of it tries.
    expect(pages.flatMap(({ violations }) => violations)).toEqual([]);
    expect(pages.flatMap(({ errors }) => errors)).toEqual([]);
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(temp, { recursive: true, force: true });
  });

  return async (options = {}) => {
    if (!browser) throw new Error('the browser has not been started');
    const panel = await PanelPage.open(browser, { ...options, dist: temp });
    open.push(panel);
    return panel;
  };
}
