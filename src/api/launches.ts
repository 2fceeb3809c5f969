/** `planLaunch`: what a launch will run. Documented in docs/api.md. */
import * as z from 'zod/mini';
import { type Agent, toContract, unsupportedFields } from '../core/agents/index.ts';
import { accessOf, NOTHING_AROUND, planLaunch as plan } from '../core/launch/index.ts';
import { THINKING_LEVELS } from '../core/models/index.ts';
import {
  agentContract,
  capabilityCeiling,
  describeError,
  describeFaults,
  type ErrorValue,
  LanesError,
  launchDefaults,
  outputSchema,
  toolBudget,
  toolRules,
} from '../protocol/index.ts';
import type * as types from './launch-types.ts';

const level = z.enum(THINKING_LEVELS);
const milliseconds = z.int().check(z.minimum(1));
const absolute = z.string().check(z.minLength(1));

const options = z.strictObject({
  call: z.strictObject({
    task: z.string().check(z.refine((text) => text.trim() !== '', 'must not be blank')),
    label: z.optional(z.string()),
    key: z.optional(z.string()),
    model: z.optional(z.string()),
    thinking: z.optional(level),
    context: z.optional(z.enum(['fresh', 'fork', 'profile'])),
    skill: z.optional(z.union([z.array(z.string()), z.boolean()])),
    output: z.optional(z.union([z.string(), z.boolean()])),
    outputMode: z.optional(z.enum(['inline', 'file-only'])),
    outputSchema: z.optional(outputSchema),
    timeoutMs: z.optional(z.nullable(milliseconds)),
    toolTimeoutMs: z.optional(milliseconds),
    toolBudget: z.optional(toolBudget),
    extensionBindings: z.optional(z.record(z.string(), z.unknown())),
  }),
  agent: z.looseObject({ name: z.string(), places: z.record(z.string(), z.unknown()) }),
  settings: z.optional(launchDefaults),
  trust: z.enum(['approve', 'no-approve']),
  limits: z.optional(z.strictObject({ ceiling: z.optional(capabilityCeiling), toolRules: z.optional(toolRules) })),
  registry: z.nullable(z.array(z.looseObject({ provider: z.string(), id: z.string(), fullId: z.string() }))),
  piDefault: z.optional(z.object({ model: z.nullable(z.string()), thinking: z.nullable(level) })),
  parent: z.optional(
    z.strictObject({ model: z.optional(z.string()), session: z.optional(z.object({ file: z.string() })) }),
  ),
  cwd: absolute,
  outputs: absolute,
  progressFile: absolute,
  around: z.optional(
    z.strictObject({
      reads: z.optional(z.array(z.string())),
      skills: z.optional(z.array(z.object({ name: z.string(), path: z.string() }))),
      missingSkills: z.optional(z.array(z.string())),
      missingExtensions: z.optional(z.array(z.string())),
      memory: z.optional(z.nullable(z.object({ file: z.string(), text: z.nullable(z.string()) }))),
      hasProgress: z.optional(z.boolean()),
    }),
  ),
});

export const planLaunch: typeof types.planLaunch = (given) => {
  const parsed = options.safeParse(given);
  if (!parsed.success) throw new TypeError(`The options of planLaunch are wrong: ${describeFaults(parsed.error)}.`);
  const agent = given.agent as Agent;
  const contract = agentContract.safeParse(toContract(agent));
  if (!contract.success)
    throw new TypeError(`The options of planLaunch are wrong: agent: ${describeFaults(contract.error)}.`);
  const { registry, piDefault, around, ...rest } = parsed.data;
  try {
    const fields = unsupportedFields(agent);
    if (fields.length > 0) {
      const { name, file } = agent;
      throw new LanesError(describeError('agent_unsupported', { name, file, fields: fields.join(', ') }));
    }
    const planned = plan({
      ...rest,
      agent: contract.data,
      models: { registry, piDefault },
      around: { ...NOTHING_AROUND, ...declared(around ?? {}) },
    });
    return { ok: true, plan: shown(planned) };
  } catch (error) {
    if (!(error instanceof LanesError)) throw error;
    return { ok: false, ...plain(error.toValue()) };
  }
};

function shown({
  child,
  cwd,
  timeoutMs,
  context,
  models,
  trust,
  prompt,
  systemPrompt,
  warnings,
}: ReturnType<typeof plan>) {
  const { tools, extensions, skills } = accessOf(child);
  const { only, denied, asked } = child.tools;
  return {
    model: child.model ?? null,
    thinking: child.thinking ?? null,
    candidates: models.candidates,
    modelIsExplicit: models.isExplicit,
    tools: tools ? [...tools] : null,
    toolBounds: declared({ only, denied, asked }),
    extensions,
    skills,
    context: context.context,
    forkOf: context.forkOf ?? null,
    cwd,
    output: child.output ?? null,
    timeoutMs,
    toolTimeoutMs: child.toolTimeoutMs ?? null,
    toolBudget: child.toolBudget ?? null,
    wait: child.wait,
    trust,
    sessionName: child.sessionName,
    prompt,
    systemPrompt: { mode: child.agent.systemPromptMode, text: systemPrompt },
    digests: child.digests,
    warnings: warnings.map(plain),
  };
}

function plain({ code, message, hint }: ErrorValue): { code: string; message: string; hint?: string } {
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}

/** Without what is not there. */
function declared<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return JSON.parse(JSON.stringify(value));
}
