import * as z from 'zod/mini';
import { describeFaults, LanesError, lanesError } from '../../protocol/index.ts';
import { nearestModel } from './nearest-model.ts';
import { type ModelEntry, resolveModel } from './resolve-model.ts';

const price = z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() });
/** US dollars for a million tokens of each kind, as Pi knows them. */
export type ModelPrice = z.infer<typeof price>;

export interface KnownModel {
  /** `provider/id` */
  name: string;
  title: string;
  reasoning: boolean;
  contextWindow: number | null;
  /** Null: Pi knows none. It writes zeros for models without a price, so a model that is free cannot be told from those. */
  price: ModelPrice | null;
}

type Named = Pick<KnownModel, 'name'>;

const answer = z.object({
  models: z.array(
    z.object({
      id: z.string(),
      provider: z.string(),
      name: z.optional(z.string()),
      reasoning: z._default(z.boolean(), false),
      contextWindow: z.nullish(z.number()),
      cost: z.catch(
        z.nullish(
          z.object({
            input: z.number(),
            output: z.number(),
            cacheRead: z._default(z.number(), 0),
            cacheWrite: z._default(z.number(), 0),
          }),
        ),
        null,
      ),
    }),
  ),
});

export const knownModel = z.object({
  name: z.string(),
  title: z.string(),
  reasoning: z.boolean(),
  contextWindow: z.nullable(z.number()),
  price: z.nullable(price),
});

/** Pi's answer to `get_available_models`. */
export function parseModels(data: unknown): KnownModel[] {
  const parsed = answer.safeParse(data);
  if (!parsed.success) throw lanesError('pi_failed:models', { faults: describeFaults(parsed.error) });
  return parsed.data.models.map((model) => ({
    name: `${model.provider}/${model.id}`,
    title: model.name ?? model.id,
    reasoning: model.reasoning,
    contextWindow: model.contextWindow ?? null,
    price: model.cost && (model.cost.input > 0 || model.cost.output > 0) ? model.cost : null,
  }));
}

/** As `resolveModel` takes it. Names of providers have no slash, ids may. */
export function toEntry<M extends Named>(model: M): ModelEntry & { model: M } {
  const at = model.name.indexOf('/');
  return { provider: model.name.slice(0, at), id: model.name.slice(at + 1), fullId: model.name, model };
}

/**
 * The one usable model a person means, by the rules of `resolveModel`, but without a level behind it.
 *
 * @throws LanesError `model_none`, `model_unknown` or `model_ambiguous`
 */
export function findModel<M extends Named>(wanted: string, known: readonly M[], preferredProvider?: string): M {
  if (known.length === 0) throw modelUnknown(wanted, known);
  const resolution = resolveModel({ request: wanted, registry: known.map(toEntry), preferredProvider });
  if (!resolution.ok) throw new LanesError(resolution.error);
  // Levels are split off before: one that is left here belongs to nothing.
  if (!resolution.entry || resolution.thinking !== undefined) throw modelUnknown(wanted, known);
  return resolution.entry.model;
}

export function modelUnknown(wanted: string, known: readonly Named[]): LanesError {
  if (known.length === 0) return lanesError('model_none');
  const near = nearestModel(
    wanted,
    known.map((model) => model.name),
  );
  return near
    ? lanesError('model_unknown:near', { name: wanted, near })
    : lanesError('model_unknown', { name: wanted });
}
