import type { AgentChange } from '../../core/agents/index.ts';
import { childEnvironment } from '../../core/processes/index.ts';
import {
  askModel,
  checkProfile,
  type Faults,
  generateProfile,
  type ModelCatalogue,
  PROFILE_KINDS,
  ProfileStore,
  refreshCatalogue,
} from '../../core/profiles/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { lanesError } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';

export interface ProfilesOptions {
  provider: string | undefined;
  force: boolean | undefined;
  'no-probe': boolean | undefined;
  json: boolean | undefined;
}

const ACTIONS = ['list', 'show', 'refresh', 'generate', 'check', 'load'] as const;

/** Which models agents get: catalogues of providers, and profiles made from them. */
export async function profilesCommand(
  context: CliContext,
  words: readonly string[],
  options: ProfilesOptions,
): Promise<number> {
  const [first = 'list', ...rest] = words;
  const action = ACTIONS.find((one) => one === first);
  if (action === undefined) throw lanesError('launch_invalid:profiles', { value: first, allowed: ACTIONS.join(', ') });
  const store = new ProfileStore(context.toolbox.agentDir);
  const say = (value: Record<string, unknown>, text: string) =>
    options.json ? printJson(context, value) : context.out(visible(text));
  switch (action) {
    case 'list': {
      const [profiles, catalogues] = [await store.names(), await store.catalogues()];
      say({ profiles, catalogues }, listText(profiles, catalogues));
      return EXIT.ok;
    }
    case 'show': {
      const profile = await store.read(named(rest));
      say({ profile }, JSON.stringify(profile, undefined, 2));
      return EXIT.ok;
    }
    case 'refresh':
      return refresh(context, store, options);
    case 'generate': {
      const kind = PROFILE_KINDS.find((one) => one === rest[0]);
      if (kind === undefined)
        throw lanesError('launch_invalid:profile-kind', { value: rest[0] ?? '', allowed: PROFILE_KINDS.join(', ') });
      const { provider } = options;
      const catalogues = (await store.catalogues()).filter(
        (one) => provider === undefined || one.provider === provider,
      );
      const profile = generateProfile(kind, catalogues);
      if (!profile) throw lanesError('launch_invalid:no-catalogue');
      const file = await store.write(rest[1] ?? kind, profile);
      say({ file, profile }, `${file}\n${JSON.stringify(profile, undefined, 2)}`);
      return EXIT.ok;
    }
    case 'check': {
      const names = rest[0] === undefined ? await store.names() : [rest[0]];
      const { models } = await (await context.toolbox.tools()).models.usable();
      const { defaults } = await context.toolbox.launchSettings(context.toolbox.agentDir, 'no-approve');
      const [catalogues, scope] = [await store.catalogues(), defaults.modelScope];
      const checked = await Promise.all(
        names.map(async (name) => ({
          name,
          faults: checkProfile(await store.read(name), { models, catalogues, scope }),
        })),
      );
      say(
        { profiles: checked },
        checked.map(({ name, faults }) => checkText(name, faults)).join('\n') || 'There are no profiles.',
      );
      return checked.some(({ faults }) => faults.length > 0) ? EXIT.runFailed : EXIT.ok;
    }
    case 'load': {
      const name = named(rest);
      const { agentOverrides } = await store.read(name);
      const change = await context.toolbox.agentChanges(context.toolbox.agentDir, false).load(name, agentOverrides);
      say({ ...change, file: store.settings }, loadText(change, store.settings));
      return EXIT.ok;
    }
    default:
      return action satisfies never;
  }
}

function named([name]: readonly string[]): string {
  if (name !== undefined) return name;
  throw lanesError('launch_invalid:no-profile');
}

async function refresh(context: CliContext, store: ProfileStore, options: ProfilesOptions): Promise<number> {
  const { toolbox } = context;
  const tools = await toolbox.tools();
  const { models } = await tools.models.usable(0);
  const providerOf = (name: string) => name.slice(0, name.indexOf('/'));
  const providers = [...new Set(models.map(({ name }) => providerOf(name)))].sort();
  const chosen = options.provider === undefined ? providers : providers.filter((one) => one === options.provider);
  if (chosen.length === 0)
    throw lanesError('launch_invalid:provider', { value: options.provider ?? '', known: providers.join(', ') || '-' });
  const env = childEnvironment(toolbox.env, { PI_CODING_AGENT_DIR: toolbox.agentDir });
  const before = await store.catalogues();
  const catalogues: ModelCatalogue[] = [];
  for (const provider of chosen) {
    const catalogue = await refreshCatalogue({
      provider,
      models: models.filter(({ name }) => providerOf(name) === provider),
      before: before.find((one) => one.provider === provider),
      force: options.force ?? false,
      now: Date.now(),
      ...(options['no-probe'] ? {} : { probe: (model) => askModel(tools.installation.command, model, { env }) }),
      onProbed: (model, { status }) => {
        if (!options.json) context.err(visible(`${model}: ${status}`));
      },
    });
    await store.writeCatalogue(catalogue);
    catalogues.push(catalogue);
  }
  if (options.json) printJson(context, { catalogues });
  else context.out(visible(catalogues.map(catalogueText).join('\n')));
  return EXIT.ok;
}

function listText(profiles: readonly string[], catalogues: readonly ModelCatalogue[]): string {
  return [
    profiles.length === 0 ? 'There are no profiles.' : `Profiles: ${profiles.join(', ')}`,
    ...(catalogues.length === 0
      ? ['`pi-lanes profiles refresh` asks which models there are.']
      : catalogues.map(catalogueText)),
  ].join('\n');
}

function catalogueText({ provider, models }: ModelCatalogue): string {
  const rows = models.map(
    ({ model, cost, quality, latency, priced, status, detail }) =>
      `- ${model}: ${cost}${priced ? '' : ' (guessed)'}, ${quality}, ${latency}; ${status}${detail === undefined ? '' : ` (${detail})`}`,
  );
  return [`${provider}:`, ...rows].join('\n');
}

function loadText({ name, files, replaced = [] }: AgentChange, settings: string): string {
  if (files.length === 0) return `${name}: it is loaded already.`;
  return [
    `The agents of ${settings} have the models of ${name}.`,
    ...(replaced.length === 0 ? [] : [`  The overrides of these agents there were others: ${replaced.join(', ')}.`]),
    '  To take it back: pi-lanes agents undo',
  ].join('\n');
}

function checkText(name: string, faults: readonly Faults[]): string {
  if (faults.length === 0) return `${name}: ok`;
  return [
    `${name}:`,
    ...faults.map(({ agent, model, problem, message }) => `- ${agent}: ${model} is ${problem}: ${message}`),
  ].join('\n');
}
