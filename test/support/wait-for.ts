import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** Deadline in milliseconds (default 10,000). */
  timeoutMs?: number;
  /** Milliseconds between two looks (default 15). */
  everyMs?: number;
  /** Called when the deadline passes: what there is instead, for the error message. */
  seen?: () => unknown;
  /** Ends the wait early with the signal's reason. */
  signal?: AbortSignal;
}

/**
 * Looks until `probe` gives something other than `undefined`, `null` or `false`, and returns that. A probe that throws
 * counts as "not yet", so assertions can be used as probes; one that never ends counts against the deadline too.
 *
 * @param what what is waited for, as it reads in "waited 10000 ms for …"
 * @throws Error at the deadline, with `what`, what was seen, and the last error of the probe as its cause
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const { timeoutMs = 10_000, everyMs = 15, seen, signal } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const stop = signal ? AbortSignal.any([deadline, signal]) : deadline;
  let last: unknown;
  while (!stop.aborted) {
    try {
      const value = await orStopped(probe(), stop);
      if (isThere(value)) return value;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await delay(everyMs, undefined, { signal: stop }).catch(() => undefined);
  }
  signal?.throwIfAborted();
  const parts = [`waited ${timeoutMs} ms for ${what}`];
  if (seen) parts.push(`seen: ${describe(seen())}`);
  if (last !== undefined && last !== deadline.reason) parts.push(`last error: ${describe(last)}`);
  throw new Error(parts.join('; '), { cause: last });
}

function isThere<T>(value: T): value is Exclude<T, undefined | null | false> {
  return value !== undefined && value !== null && value !== false;
}

async function orStopped<T>(value: T | Promise<T>, stop: AbortSignal): Promise<T> {
  if (!(value instanceof Promise)) return value;
  let onAbort = () => {};
  const stopped = new Promise<never>((_, reject) => {
    onAbort = () => reject(stop.reason);
    stop.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([value, stopped]);
  } finally {
    stop.removeEventListener('abort', onAbort);
  }
}

function describe(value: unknown): string {
  if (value instanceof Error) return value.message;
  if (typeof value === 'string') return value;
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 2_000 ? `${text.slice(0, 2_000)}… (${text.length} characters)` : text;
}
