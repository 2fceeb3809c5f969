/** Which model each role gets: as a set of overrides of agents that can be put into Pi's settings. Pure. */
import * as z from 'zod/mini';
import { judgeScope, type KnownModel, type ModelScope, resolveModel, toEntry } from '../models/index.ts';
import type { CatalogueEntry, ModelCatalogue } from './catalogue.ts';
import { COSTS, QUALITIES } from './classify.ts';

export const PROFILE_KINDS = ['quota', 'quality'] as const;
export type ProfileKind = (typeof PROFILE_KINDS)[number];

/** As it stands in its file. Fields of overrides that are not looked at here are kept. */
export const profile = z.looseObject({
  agentOverrides: z.record(
    z.string(),
    z.looseObject({
      model: z.optional(z.union([z.string(), z.literal(false)])),
      fallbackModels: z.optional(z.union([z.array(z.string()), z.literal(false)])),
    }),
  ),
});
export type Profile = z.infer<typeof profile>;

/** How much of a model a role needs. */
const ROLES = {
  scout: 'cheap',
  delegate: 'cheap',
  researcher: 'medium',
  worker: 'strong',
  reviewer: 'strong',
  oracle: 'strong',
} as const;

/** Where in the row from the weakest to the strongest each need is met, as a part of the row. */
const POSITIONS = {
  quota: { cheap: 0, medium: 1 / 3, strong: 2 / 3 },
  quality: { cheap: 1 / 3, medium: 2 / 3, strong: 1 },
} as const;

/** `undefined`: no model of the catalogues can be used. */
export function generateProfile(kind: ProfileKind, catalogues: readonly ModelCatalogue[]): Profile | undefined {
  const usable = catalogues
    .flatMap(({ models }) => models)
    .filter(({ status }) => status === 'ok' || status === 'skipped');
  const row = undominated(usable).sort(byStrength);
  if (row.length === 0) return undefined;
  const last = row.length - 1;
  const pick = (need: keyof (typeof POSITIONS)['quota']) => {
    const at = Math.round(POSITIONS[kind][need] * last);
    // A profile that spares has no use for the dearest there is.
    return row[kind === 'quota' && last > 0 ? Math.min(at, last - 1) : at]?.model ?? '';
  };
  const agentOverrides = Object.fromEntries(
    Object.entries(ROLES).map(([agent, need]) => [agent, { model: pick(need) }]),
  );
  return { agentOverrides };
}

/** Without those that another is better than for the same money, or as good as for less. */
function undominated(models: readonly CatalogueEntry[]): CatalogueEntry[] {
  return models.filter(
    (one) =>
      !models.some((other) => {
        const [cost, quality] = [costOf(other) - costOf(one), qualityOf(other) - qualityOf(one)];
        return cost <= 0 && quality >= 0 && (cost < 0 || quality > 0);
      }),
  );
}

function byStrength(one: CatalogueEntry, other: CatalogueEntry): number {
  return qualityOf(one) - qualityOf(other) || costOf(one) - costOf(other) || (one.model < other.model ? -1 : 1);
}

const costOf = ({ cost }: CatalogueEntry) => COSTS.indexOf(cost);
const qualityOf = ({ quality }: CatalogueEntry) => QUALITIES.indexOf(quality);

export interface Faults {
  agent: string;
  model: string;
  problem: 'missing' | 'unavailable' | 'out-of-scope';
  message: string;
}

/** Models of a profile that a launch would not get. */
export function checkProfile(
  { agentOverrides }: Profile,
  {
    models,
    catalogues,
    scope,
  }: { models: readonly KnownModel[]; catalogues: readonly ModelCatalogue[]; scope?: ModelScope | undefined },
): Faults[] {
  const registry = models.map(toEntry);
  const entries = catalogues.flatMap((catalogue) => catalogue.models);
  return Object.entries(agentOverrides).flatMap(([agent, { model, fallbackModels }]) =>
    [...(model ? [model] : []), ...(fallbackModels || [])]
      .filter((name) => name !== 'inherit')
      .flatMap((name): Faults[] => {
        if (registry.length === 0)
          return [{ agent, model: name, problem: 'missing', message: 'Pi has no usable model' }];
        const resolution = resolveModel({ request: name, registry, source: 'configured' });
        if (!resolution.ok) {
          const { message, hint = '' } = resolution.error;
          return [{ agent, model: name, problem: 'missing', message: `${message} ${hint}`.trim() }];
        }
        const known = entries.find((entry) => entry.model === resolution.model);
        if (known && known.status !== 'ok' && known.status !== 'skipped')
          return [
            {
              agent,
              model: name,
              problem: 'unavailable',
              message: `${known.status}: ${known.detail ?? 'it did not answer'}`,
            },
          ];
        const verdict = judgeScope(scope, { model: resolution.model, source: 'configured', agent });
        if (!verdict.allowed)
          return [{ agent, model: name, problem: 'out-of-scope', message: `allowed: ${verdict.allow.join(', ')}` }];
        return [];
      }),
  );
}
