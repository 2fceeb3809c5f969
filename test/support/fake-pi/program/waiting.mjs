// Waits that an abort ends, and waits that nothing ends.

/** Thrown when the run is to stop. */
export class Aborted extends Error {}

/** Milliseconds after which a fake that nobody ended ends itself: a safety net below every test's own. */
export const LIFETIME_MS = 10 * 60 * 1000;

export function throwIfAborted(signal) {
  if (signal.aborted) throw new Aborted();
}

/** @throws Aborted */
export function pause(ms, signal) {
  return untilAborted(signal, (done) => {
    const timer = setTimeout(done, ms);
    return () => clearTimeout(timer);
  });
}

/**
 * Waits until `start`'s callback is called. Keeps the process alive meanwhile, also without stdin.
 * @param start takes the callback, returns what to undo; absent: only an abort ends the wait
 * @throws Aborted
 */
export function untilAborted(signal, start = () => () => undefined) {
  return new Promise((resolve, reject) => {
    const alive = setInterval(() => undefined, LIFETIME_MS);
    let undo = () => undefined;
    const end = (settle) => {
      clearInterval(alive);
      signal.removeEventListener('abort', stop);
      undo();
      settle();
    };
    const stop = () => end(() => reject(new Aborted()));
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    undo = start((value) => end(() => resolve(value)));
  });
}

/** Looks every few milliseconds until `probe` is true. @throws Aborted */
export function untilTrue(probe, signal) {
  return untilAborted(signal, (done) => {
    const timer = setInterval(() => probe() && done(), 5);
    return () => clearInterval(timer);
  });
}

/** Never resolves and keeps the process alive. */
export function forever() {
  return new Promise(() => setInterval(() => undefined, LIFETIME_MS));
}
