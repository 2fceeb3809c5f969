/** What Pi's settings files say about agents: `settings.json` in the agent folder, and in `.pi` of a project. */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { type ParseError, parseTree } from 'jsonc-parser';
import * as z from 'zod/mini';
import { type AgentDiagnostic, agentProblem, describeFaults, wordsOf } from '../../protocol/index.ts';
import { errnoOf, readRegular } from '../files/index.ts';
import { modelScope, THINKING_LEVELS, type ThinkingLevel } from '../models/index.ts';
import { TextPositions } from '../text-positions/index.ts';
import { resolveDotted } from './agent-fields.ts';
import { type OverrideSettings, placeOf, readOverrides, type SettingPlace, type SettingsText } from './overrides.ts';

const packageEntry = z.union([z.string(), z.looseObject({ source: z.string() })]);

const settings = z.looseObject({
  packages: z.optional(z.array(packageEntry)),
  subagents: z.optional(
    z.looseObject({
      projectRootResolution: z.optional(z.enum(['nearest', 'git-root'])),
      agentScanDirs: z.optional(z.array(z.string())),
      agentOverrides: z.optional(z.record(z.string(), z.unknown())),
      agentOverridesByProvider: z.optional(z.record(z.string(), z.record(z.string(), z.unknown()))),
      disableBuiltins: z.optional(z.boolean()),
      disableThinking: z.optional(z.boolean()),
      defaultModel: z.optional(z.string()),
      defaultProvider: z.optional(z.string()),
      defaultThinking: z.optional(z.enum(THINKING_LEVELS)),
      defaultExtensions: z.optional(z.array(z.string())),
      // What they say is applied where models are chosen.
      maxThinking: z.optional(z.enum(THINKING_LEVELS)),
      modelScope: z.optional(modelScope),
    }),
  ),
});

/** A setting and where it stands. */
interface Placed<T> {
  value: T;
  place: SettingPlace;
}

/** What holds for all agents. */
export interface AgentDefaults {
  disableBuiltins?: Placed<boolean>;
  disableThinking?: Placed<boolean>;
  defaultModel?: Placed<string>;
  defaultProvider?: Placed<string>;
  defaultThinking?: Placed<ThinkingLevel>;
  defaultExtensions?: Placed<string[]>;
}

export interface AgentSettings extends OverrideSettings {
  file: string;
  /** Folder that relative paths of agents begin in. */
  base: string;
  projectRootResolution?: 'nearest' | 'git-root';
  /** Absolute. */
  scanDirs: string[];
  /** Sources of packages, as Pi has them. */
  packages: string[];
  defaults: AgentDefaults;
  /** `agentOverrides` as it stands there. */
  raw: Readonly<Record<string, unknown>>;
}

/** @param base folder that relative paths of agents begin in */
export async function readAgentSettings(file: string, base: string, home = homedir()): Promise<AgentSettings> {
  const none: AgentSettings = {
    file,
    base,
    scanDirs: [],
    packages: [],
    defaults: {},
    raw: {},
    overrides: new Map(),
    byProvider: new Map(),
    diagnostics: [],
  };
  let text: string;
  try {
    text = (await readRegular(file)).replace(/^\uFEFF/, '');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return none;
    return { ...none, diagnostics: [invalid(file, '', wordsOf(error))] };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const errors: ParseError[] = [];
    parseTree(text, errors, { disallowComments: true });
    return { ...none, diagnostics: [invalid(file, text, wordsOf(error), errors[0]?.offset)] };
  }
  const parsed = settings.safeParse(value);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.findLast((name) => typeof name === 'string');
    const at = field === undefined ? undefined : text.indexOf(`"${field}"`);
    return { ...none, diagnostics: [invalid(file, text, describeFaults(parsed.error), at)] };
  }
  const { packages = [], subagents = {} } = parsed.data;
  const { projectRootResolution, agentScanDirs = [] } = subagents;
  const source: SettingsText = { file, positions: new TextPositions(text), tree: parseTree(text) };
  const { overrides, byProvider, diagnostics } = readOverrides(value, source);
  return {
    ...none,
    ...(projectRootResolution === undefined ? {} : { projectRootResolution }),
    scanDirs: agentScanDirs.map((path) => absolute(path, base, home)),
    packages: packages.map((entry) => (typeof entry === 'string' ? entry : entry.source)),
    defaults: readDefaults(subagents, source, base),
    raw: subagents.agentOverrides ?? {},
    overrides,
    byProvider,
    diagnostics,
  };
}

type Subagents = NonNullable<z.infer<typeof settings>['subagents']>;

function readDefaults(subagents: Subagents, source: SettingsText, base: string): AgentDefaults {
  const { disableBuiltins, disableThinking, defaultModel, defaultProvider, defaultThinking, defaultExtensions } =
    subagents;
  const placed = <T>(name: keyof AgentDefaults, value: T) => ({ value, place: placeOf(['subagents', name], source) });
  return {
    ...(disableBuiltins === undefined ? {} : { disableBuiltins: placed('disableBuiltins', disableBuiltins) }),
    ...(disableThinking === undefined ? {} : { disableThinking: placed('disableThinking', disableThinking) }),
    ...(defaultModel === undefined ? {} : { defaultModel: placed('defaultModel', defaultModel) }),
    ...(defaultProvider === undefined ? {} : { defaultProvider: placed('defaultProvider', defaultProvider) }),
    ...(defaultThinking === undefined ? {} : { defaultThinking: placed('defaultThinking', defaultThinking) }),
    ...(defaultExtensions === undefined
      ? {}
      : { defaultExtensions: placed('defaultExtensions', resolveDotted(defaultExtensions, base)) }),
  };
}

/** A path as people write it in settings. */
export function absolute(path: string, base: string, home: string): string {
  if (path === '~' || /^~[\\/]/.test(path)) return join(home, path.slice(1));
  return isAbsolute(path) ? path : resolve(base, path);
}

/** @param at where; what JavaScript says of JSON has no place in short files */
function invalid(file: string, text: string, reason: string, at = 0): AgentDiagnostic {
  const place = new TextPositions(text).range(Math.max(0, at), Math.max(0, at) + 1);
  return { file, ...agentProblem('settings_invalid', { reason: reason.replace(/\s+/g, ' ') }), ...place };
}
