/** How dear, good and fast a model probably is: by its price where that is known, else by the words of its name. Pure. */
import type { KnownModel } from '../models/index.ts';

export const COSTS = ['cheap', 'medium', 'expensive'] as const;
export const QUALITIES = ['weak', 'medium', 'strong'] as const;
export const LATENCIES = ['fast', 'medium', 'slow'] as const;

export interface ModelClass {
  cost: (typeof COSTS)[number];
  quality: (typeof QUALITIES)[number];
  latency: (typeof LATENCIES)[number];
  /** Whether the cost is that of the price, or a guess. */
  priced: boolean;
}

const SMALL = /(?:^|[-_.])(?:mini|nano|micro|tiny|lite|light|flash|haiku|small|instant|air|[1-9]b|1[0-4]b)(?:$|[-_.])/i;
const LARGE = /(?:^|[-_.])(?:opus|ultra|pro|large|max|heavy|[1-9]\d{2}b)(?:$|[-_.])/i;

/** US dollars for a million tokens, three parts read and one part written: what agents do. */
export function blendedPrice({ price }: Pick<KnownModel, 'price'>): number | null {
  return price === null ? null : (3 * price.input + price.output) / 4;
}

export function classify(model: KnownModel): ModelClass {
  const id = model.name.slice(model.name.indexOf('/') + 1);
  const size = SMALL.test(id) ? 0 : LARGE.test(id) ? 2 : 1;
  const price = blendedPrice(model);
  const byPrice = price === null ? size : price < 1.5 ? 0 : price < 8 ? 1 : 2;
  // A large model that does not think is no strong one, a small one that does is no weak one.
  const strength = Math.max(size, Math.min(byPrice, 1)) + (model.reasoning ? 1 : 0) - 1;
  return {
    cost: at(COSTS, byPrice),
    quality: at(QUALITIES, strength + (size === 2 && model.reasoning ? 1 : 0)),
    latency: at(LATENCIES, size),
    priced: price !== null,
  };
}

function at<T>(list: readonly T[], index: number): T {
  return list[Math.min(Math.max(index, 0), list.length - 1)] as T;
}
