import { setImmediate as nextTurn } from 'node:timers/promises';

/** How many runs are looked at together: enough for a disk that answers late, too few to be in anybody's way. */
const AT_ONCE = 4;

/** Does the work for every item, a few at a time, in order of their beginning. Between two items the event loop has its turn. */
export async function mapBounded<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const lane = async () => {
    for (const [index, item] of entries) {
      results[index] = await work(item);
      await nextTurn();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return results;
}
