import {
  changeExclusions,
  findModel,
  type KnownModel,
  type ModelExclusion,
  resolveModel,
  toEntry,
} from '../../core/models/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { formatTokens, LanesError, lanesError } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';

export interface ModelsOptions {
  /** Lets a model be used again, or all with `*`. */
  include: string | undefined;
  json: boolean | undefined;
}

/** Lists the models that Pi can use now, or says which one a name means: nothing is started but a Pi that is asked for them. */
export async function modelsCommand(
  context: CliContext,
  name: string | undefined,
  options: ModelsOptions,
): Promise<number> {
  const { toolbox } = context;
  if (options.include !== undefined) {
    if (name !== undefined) throw lanesError('launch_invalid:too-many', { word: name });
    return include(context, options.include, options.json ?? false);
  }
  const { models } = await toolbox.tools();
  const usable = await models.usable(name === undefined ? 0 : undefined);
  const left = await toolbox.exclusions();
  if (name !== undefined) return meant(context, name, usable.models, left, options.json ?? false);
  if (options.json)
    printJson(context, {
      models: usable.models,
      defaultModel: usable.defaultModel,
      defaultThinking: usable.defaultThinking,
      excluded: left,
    });
  else {
    if (usable.models.length === 0) throw lanesError('model_none');
    const rows = usable.models.map((model) => row(model, usable.defaultModel, left));
    context.out(visible(['Models Pi can use:', ...rows].join('\n')));
  }
  return EXIT.ok;
}

function meant(
  context: CliContext,
  name: string,
  known: readonly KnownModel[],
  left: readonly ModelExclusion[],
  asJson: boolean,
): number {
  if (known.length === 0) throw lanesError('model_none');
  const resolution = resolveModel({ request: name, registry: known.map(toEntry) });
  if (!resolution.ok) throw new LanesError(resolution.error);
  const { model, full, match, thinking } = resolution;
  const excluded = left.find((one) => one.model === model);
  if (asJson) printJson(context, { model, thinking: thinking ?? null, match, excluded: excluded ?? null });
  else context.out(visible(excluded ? `${full} (${leftOut(excluded)})` : full));
  return EXIT.ok;
}

async function include(context: CliContext, wanted: string, asJson: boolean): Promise<number> {
  const { toolbox } = context;
  const names = (await toolbox.exclusions()).map(({ model }) => model);
  const chosen = wanted === '*' || names.length === 0 ? names : [findModel(wanted, names.map(named)).name];
  if (chosen.length > 0)
    await changeExclusions(toolbox.exclusionsFile, (all) => all.filter(({ model }) => !chosen.includes(model)));
  if (asJson) printJson(context, { included: chosen });
  else context.out(chosen.length === 0 ? 'No model is left out.' : `Used again: ${chosen.join(', ')}`);
  return EXIT.ok;
}

function named(name: string): { name: string } {
  return { name };
}

function row(model: KnownModel, usual: string | null, left: readonly ModelExclusion[]): string {
  const { name, title, reasoning, contextWindow, price } = model;
  const excluded = left.find((one) => one.model === name);
  const facts = [
    ...(name === usual ? ['default'] : []),
    ...(title === name.slice(name.indexOf('/') + 1) ? [] : [title]),
    reasoning ? 'thinks' : 'does not think',
    ...(contextWindow === null ? [] : [`${formatTokens(contextWindow)} tokens of context`]),
    ...(price === null ? [] : [`$${price.input} in, $${price.output} out per million tokens`]),
    ...(excluded ? [leftOut(excluded)] : []),
  ];
  return `- ${name} (${facts.join('; ')})`;
}

function leftOut({ until, evidence }: ModelExclusion): string {
  return `left out until ${new Date(until).toISOString()}: ${evidence}`;
}
