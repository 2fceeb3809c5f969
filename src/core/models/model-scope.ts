/** Which models may be used at all, as `subagents.modelScope` of Pi's settings says. */
import * as z from 'zod/mini';
import type { ModelSource } from './resolve-model.ts';
import { splitLevel } from './thinking-level.ts';

const patterns = z.array(z.string().check(z.trim(), z.minLength(1)));
const rules = { enforce: z.optional(z.boolean()), strict: z.optional(z.boolean()), allow: z.optional(patterns) };

export const modelScope = z
  .object({ ...rules, agents: z.optional(z.record(z.string(), z.object(rules))) })
  .check(
    z.refine(
      (scope) =>
        [scope, ...Object.values(scope.agents ?? {}).map((own) => ({ ...scope, ...own }))].every(
          ({ enforce, allow = [] }) => enforce !== true || allow.length > 0,
        ),
      'enforce needs patterns in allow',
    ),
  );
export type ModelScope = z.infer<typeof modelScope>;

export interface ScopedModel {
  /** `provider/id`, a level behind it does not count. */
  model: string;
  source: ModelSource;
  /** Name of the agent, whose own rules replace the general ones field by field. */
  agent: string;
  /** What the pattern `inherit` stands for. */
  parentModel?: string | undefined;
}

export type ScopeVerdict = { allowed: true } | { allowed: false; severity: 'error' | 'warning'; allow: string[] };

/** What was named for the run or in a file must be allowed; what is inherited or taken in another's place is only told, unless strict. */
export function judgeScope(
  scope: ModelScope | undefined,
  { model, source, agent, parentModel }: ScopedModel,
): ScopeVerdict {
  const own = scope?.agents;
  const { enforce, strict, allow = [] } = { ...scope, ...(own && Object.hasOwn(own, agent) ? own[agent] : {}) };
  if (!enforce) return { allowed: true };
  const name = splitLevel(model).model.toLowerCase();
  const id = name.slice(name.indexOf('/') + 1);
  const fits = allow.some((pattern) => {
    const meant = pattern === 'inherit' ? parentModel : pattern;
    if (meant === undefined) return false;
    const glob = asPattern(splitLevel(meant).model.toLowerCase());
    return glob.test(name) || (!meant.includes('/') && glob.test(id));
  });
  if (fits) return { allowed: true };
  const isLenient = source === 'inherited' || source === 'fallback';
  return { allowed: false, severity: isLenient && !strict ? 'warning' : 'error', allow };
}

/** `*` stands for anything, everything else for itself. */
function asPattern(glob: string): RegExp {
  return new RegExp(
    `^${glob
      .split('*')
      .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
    's',
  );
}
