/** The same numbers from 0 to 1 for the same seed (mulberry32). */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed of this run of the tests, printed so that it can be given again as `PI_LANES_SEED`. */
export function printedSeed(): number {
  const seed = Number(process.env['PI_LANES_SEED'] ?? Date.now() % 1_000_000);
  console.log(`PI_LANES_SEED=${seed}`);
  return seed;
}
