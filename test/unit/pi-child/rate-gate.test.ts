/** What a child does before it asks its model, and what it tells of a refusal. */
import { channel } from 'node:diagnostics_channel';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Pi, PiContext } from '../../../src/pi/child/pi.ts';
import { keepToGate } from '../../../src/pi/child/rate-gate.ts';
import type { ChildReport } from '../../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';

let folder: TempDir;
let file: string;
beforeEach(async () => {
  folder = await tempDir();
  file = join(folder.path, 'rate-gate.json');
});
afterEach(() => folder.remove());

/** A child of which only the gate is there. */
function child(signal?: AbortSignal) {
  const handlers = new Map<string, (event: unknown, context: PiContext) => unknown>();
  const reports: ChildReport[] = [];
  const on = (event: string, handler: (event: unknown, context: PiContext) => unknown) => handlers.set(event, handler);
  keepToGate({ on } as unknown as Pi, file, (_, said) => reports.push(said));
  const context: PiContext = {
    ui: { setStatus: () => undefined, confirm: async () => false },
    model: { provider: 'one' },
    signal,
  };
  return {
    reports,
    ask: async () => {
      const from = Date.now();
      await handlers.get('before_provider_request')?.({}, context);
      return Date.now() - from;
    },
    answered: () => handlers.get('after_provider_response')?.({}, context),
  };
}

/** As Node tells of an answer to `fetch`. */
function fetched(statusCode: number, headers: Record<string, string> = {}): void {
  const bytes = Object.entries(headers).flatMap(([name, value]) => [Buffer.from(name), Buffer.from(value)]);
  channel('undici:request:headers').publish({ request: {}, response: { statusCode, headers: bytes } });
}

const closed = (ms: number, provider = 'one') => writeFile(file, JSON.stringify({ [provider]: Date.now() + ms }));

describe('a child before it asks its model', () => {
  it.each([
    ['there is no gate', async () => undefined],
    ['the gate was closed and is open again', () => closed(-1)],
    ['the gate of another provider is closed', () => closed(60_000, 'two')],
    ['the file cannot be read', () => writeFile(file, '{')],
  ])('does not wait when %s', async (_, arrange) => {
    await arrange();
    expect(await child().ask()).toBeLessThan(200);
  });

  it('waits until the gate is open, and a little more, each its own time', async () => {
    await closed(300);
    const waits = await Promise.all(Array.from({ length: 8 }, () => child().ask()));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(295);
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(20);
  });

  it('does not wait any longer when its work is aborted', async () => {
    await closed(60_000);
    const over = new AbortController();
    const waiting = child(over.signal).ask();
    over.abort();
    expect(await waiting).toBeLessThan(5000);
  });
});

describe('a refusal', () => {
  it.each([
    [{ 'Retry-After': '3' }, 3000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': '3', 'retry-after-ms': '120' }, 120],
    [{}, null],
    [{ 'retry-after': 'soon' }, null],
  ])('is told with how long the provider wants to be left alone: %j', async (headers, retryAfterMs) => {
    const { ask, reports } = child();
    await ask();
    fetched(429, headers);
    expect(reports).toEqual([{ type: 'rate-limited', provider: 'one', retryAfterMs }]);
  });

  it('may name a time of day', async () => {
    const { ask, reports } = child();
    await ask();
    fetched(429, { 'retry-after': new Date(Date.now() + 5000).toUTCString() });
    const [said] = reports;
    const ms = said?.type === 'rate-limited' ? said.retryAfterMs : null;
    expect(ms).toBeGreaterThan(3500);
    expect(ms).toBeLessThanOrEqual(5000);
  });

  it('of something else than the model is not told', async () => {
    const { ask, answered, reports } = child();
    fetched(429);
    await ask();
    fetched(200);
    fetched(503);
    answered();
    fetched(429);
    expect(reports).toEqual([]);
  });
});
