/** `resolveModel`: which model of a registry a name means. Documented in docs/api.md. */
import * as z from 'zod/mini';
import { resolveModel as resolve } from '../core/models/index.ts';
import { describeFaults } from '../protocol/index.ts';
import type * as types from './model-types.ts';

const options = z.strictObject({
  request: z.string().check(z.refine((text) => text.trim() !== '', 'must not be blank')),
  registry: z.array(z.looseObject({ provider: z.string(), id: z.string(), fullId: z.string() })),
  preferredProvider: z.optional(z.string()),
  source: z.optional(z.enum(['explicit', 'configured', 'fallback', 'inherited'])),
});

export const resolveModel: typeof types.resolveModel = (given) => {
  const parsed = options.safeParse(given);
  if (!parsed.success) throw new TypeError(`The options of resolveModel are wrong: ${describeFaults(parsed.error)}.`);
  const resolution = resolve(given);
  const { source } = resolution;
  if (!resolution.ok) {
    const { error, candidates } = resolution;
    const { message, hint } = error;
    const code = error.code === 'model_ambiguous' ? error.code : 'model_unknown';
    return { ok: false, code, message, ...(hint === undefined ? {} : { hint }), candidates, source };
  }
  const { model, thinking, full, match, entry } = resolution;
  return {
    ok: true,
    model,
    ...(thinking === undefined ? {} : { thinking }),
    full,
    match,
    ...(entry === undefined ? {} : { entry }),
    source,
  };
};
