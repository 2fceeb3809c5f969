/** Before its model is asked, a child waits until the provider wants to be asked again. What is known of that stands in a file of the run. */
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChildReport } from '../../protocol/index.ts';
import type { Pi, PiContext } from './pi.ts';

/** The longest a request is held, in milliseconds: a clock that was set must not hold it for ever. */
const MOST_MS = 120_000;
/** Each child comes back by so much later, at random: a part of the wait, and these bounds in milliseconds. */
const SPREAD = { part: 0.25, least: 250, most: 5000 };

/** Node tells of every answer to `fetch`, which all of Pi's providers use; those of other transports are not seen. */
const ANSWERS = 'undici:request:headers';

interface Answer {
  response?: { statusCode?: number; headers?: readonly Uint8Array[] };
}

/** @param report what is said to the runner */
export function keepToGate(pi: Pi, file: string, report: (context: PiContext, said: ChildReport) => void): void {
  /** The request that has no answer yet. */
  let asking: { provider: string; context: PiContext } | undefined;
  pi.on('before_provider_request', async (_, context) => {
    const provider = context.model?.provider;
    if (provider === undefined) return;
    await pass(file, provider, context.signal);
    asking = { provider, context };
  });
  pi.on('after_provider_response', () => {
    asking = undefined;
  });
  subscribe(ANSWERS, (message) => {
    const { response } = message as Answer;
    if (asking === undefined || response?.statusCode !== 429) return;
    const { provider, context } = asking;
    asking = undefined;
    report(context, { type: 'rate-limited', provider, retryAfterMs: retryAfter(response.headers ?? []) });
  });
}

async function pass(file: string, provider: string, signal: AbortSignal | undefined): Promise<void> {
  const latest = Date.now() + MOST_MS;
  for (;;) {
    const now = Date.now();
    const wait = Math.min(untilOf(file, provider), latest) - now;
    if (wait <= 0 || signal?.aborted) return;
    const spread = Math.min(Math.max(wait * SPREAD.part, SPREAD.least), SPREAD.most);
    // An aborted request ends by itself.
    await delay(wait + Math.random() * spread, undefined, signal ? { signal } : {}).catch(() => undefined);
  }
}

/** Milliseconds since 1970; 0: at once. */
function untilOf(file: string, provider: string): number {
  try {
    const until: unknown = JSON.parse(readFileSync(file, 'utf8'))[provider];
    return typeof until === 'number' ? until : 0;
  } catch {
    // Nobody has been refused yet.
    return 0;
  }
}

/** @param headers names and values by turns, as bytes */
function retryAfter(headers: readonly Uint8Array[]): number | null {
  const named = new Map<string, string>();
  for (let at = 0; at + 1 < headers.length; at += 2)
    named.set(String(headers[at]).toLowerCase(), String(headers[at + 1]));
  const ms = Number.parseFloat(named.get('retry-after-ms') ?? '');
  if (ms >= 0) return ms;
  const text = named.get('retry-after') ?? '';
  const seconds = Number.parseFloat(text);
  const wait = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1000;
  return wait >= 0 ? wait : null;
}
