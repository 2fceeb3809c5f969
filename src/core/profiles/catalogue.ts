/** What is known of the models of one provider: how they are classed, and whether they have answered. */
import * as z from 'zod/mini';
import type { KnownModel } from '../models/index.ts';
import { COSTS, classify, LATENCIES, QUALITIES } from './classify.ts';

export const PROBE_STATUSES = ['ok', 'unavailable', 'auth', 'timeout', 'error', 'skipped'] as const;
export type ProbeStatus = (typeof PROBE_STATUSES)[number];

const catalogueEntry = z.object({
  /** `provider/id` */
  model: z.string(),
  cost: z.enum(COSTS),
  quality: z.enum(QUALITIES),
  latency: z.enum(LATENCIES),
  priced: z.boolean(),
  status: z.enum(PROBE_STATUSES),
  /** What it said instead of an answer. */
  detail: z.optional(z.string()),
  /** Milliseconds since 1970; null: it was never asked. */
  probedAt: z.nullable(z.number()),
});
export type CatalogueEntry = z.infer<typeof catalogueEntry>;

export const modelCatalogue = z.object({
  version: z.literal(1),
  provider: z.string(),
  refreshedAt: z.number(),
  models: z.array(catalogueEntry),
});
export type ModelCatalogue = z.infer<typeof modelCatalogue>;

/** Milliseconds after which a model is asked again. */
export const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;
/** Models that are asked at the same time: each is a process of its own, and providers count requests. */
export const PROBES_AT_ONCE = 4;

export interface Probed {
  status: ProbeStatus;
  detail?: string;
}

export interface RefreshOptions {
  provider: string;
  /** Of this provider. */
  models: readonly KnownModel[];
  /** What was known before. */
  before?: ModelCatalogue | undefined;
  /** Ask all again, whenever they answered. */
  force?: boolean;
  now: number;
  /** Asks one model for a word. Never rejects. Absent: none is asked. */
  probe?: (model: string) => Promise<Probed>;
  /** Called when one has answered. */
  onProbed?: (model: string, probed: Probed) => void;
}

export async function refreshCatalogue(options: RefreshOptions): Promise<ModelCatalogue> {
  const { provider, models, before, force = false, now, probe, onProbed } = options;
  const entries = models.map((model): CatalogueEntry => {
    const known = before?.models.find((entry) => entry.model === model.name);
    const isFresh = known?.probedAt != null && now - known.probedAt < MAX_AGE_MS && known.probedAt <= now;
    const kept = known && isFresh && !force ? known : undefined;
    return {
      model: model.name,
      ...classify(model),
      status: kept?.status ?? 'skipped',
      ...(kept?.detail === undefined ? {} : { detail: kept.detail }),
      probedAt: kept?.probedAt ?? null,
    };
  });
  const waiting = probe ? entries.filter(({ probedAt }) => probedAt === null) : [];
  const work = async () => {
    for (let entry = waiting.shift(); entry && probe; entry = waiting.shift()) {
      const probed = await probe(entry.model);
      Object.assign(entry, probed, { probedAt: now });
      onProbed?.(entry.model, probed);
    }
  };
  await Promise.all(Array.from({ length: PROBES_AT_ONCE }, work));
  return { version: 1, provider, refreshedAt: now, models: entries };
}
