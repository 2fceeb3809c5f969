import * as z from 'zod/mini';
import { describeFaults, type LanesError, lanesError } from '../../protocol/index.ts';

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

const LEVEL_SUFFIX = /:(off|minimal|low|medium|high|xhigh|max)$/;

/** `provider/id:high` as model and thinking level. */
export function splitLevel(text: string): { model: string; thinking: string | undefined } {
  const level = LEVEL_SUFFIX.exec(text)?.[1];
  return level === undefined
    ? { model: text, thinking: undefined }
    : { model: text.slice(0, -level.length - 1), thinking: level };
}

/**
 * The one usable model a person means: `provider/id`, or an id that only one provider has. Pi's own fuzzy matching
 * surprises, so nothing else is accepted. Throws `model_none`, `model_unknown` or `model_ambiguous`.
 */
export function resolveModel<M extends Named>(wanted: string, known: readonly M[]): M {
  const exact = known.find((model) => model.name === wanted);
  if (exact) return exact;
  const byId = known.filter((model) => model.name.slice(model.name.indexOf('/') + 1) === wanted);
  if (byId.length === 1 && byId[0]) return byId[0];
  if (byId.length > 1) {
    const names = byId.map((model) => model.name).join(', ');
    throw lanesError('model_ambiguous', { name: wanted, names });
  }
  throw modelUnknown(wanted, known);
}

export function modelUnknown(wanted: string, known: readonly Named[]): LanesError {
  if (known.length === 0) {
    return lanesError('model_none');
  }
  const near = nearest(
    wanted,
    known.map((model) => model.name),
  );
  return near
    ? lanesError('model_unknown:near', { name: wanted, near })
    : lanesError('model_unknown', { name: wanted });
}

/** The candidate with the fewest edits, when it is near enough to be what was meant. */
function nearest(wanted: string, names: readonly string[]): string | undefined {
  const idOf = (name: string) => name.slice(name.indexOf('/') + 1);
  const bare = (name: string) => idOf(name).replace(DATE_SUFFIX, '');
  // An id can hold a slash itself: what is wanted may lack its provider although it has one.
  const score = (name: string) =>
    Math.min(distance(wanted, name), distance(wanted, idOf(name)), distance(bare(wanted), bare(name)) + 1);
  const best = names.map((name) => ({ name, score: score(name) })).sort((a, b) => a.score - b.score)[0];
  return best && best.score <= Math.max(3, bare(wanted).length / 2) ? best.name : undefined;
}

/** Providers name releases by their date: `-20250514`, `-2025-05-14`, `@20250514`. */
const DATE_SUFFIX = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/;

/** Levenshtein distance, ignoring case. */
function distance(left: string, right: string): number {
  const a = left.toLowerCase();
  const b = right.toLowerCase();
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitute, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
