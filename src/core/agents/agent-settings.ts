/** What Pi's settings files say about agents: `settings.json` in the agent folder, and in `.pi` of a project. */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import * as z from 'zod/mini';
import { type AgentDiagnostic, agentProblem, describeFaults, wordsOf } from '../../protocol/index.ts';
import { errnoOf, readRegular } from '../files/index.ts';
import { TextPositions } from '../text-positions/index.ts';

const packageEntry = z.union([z.string(), z.looseObject({ source: z.string() })]);

const settings = z.looseObject({
  packages: z.optional(z.array(packageEntry)),
  subagents: z.optional(
    z.looseObject({
      projectRootResolution: z.optional(z.enum(['nearest', 'git-root'])),
      agentScanDirs: z.optional(z.array(z.string())),
    }),
  ),
});

export interface AgentSettings {
  file: string;
  projectRootResolution?: 'nearest' | 'git-root';
  /** Absolute. */
  scanDirs: string[];
  /** Sources of packages, as Pi has them. */
  packages: string[];
  diagnostics: AgentDiagnostic[];
}

/** Settings of agents that this version does not apply. */
const UNAPPLIED = [
  'agentOverrides',
  'agentOverridesByProvider',
  'disableBuiltins',
  'disableThinking',
  'defaultModel',
  'defaultProvider',
  'defaultThinking',
  'defaultExtensions',
];

/** @param base folder that relative paths of agents begin in */
export async function readAgentSettings(file: string, base: string, home = homedir()): Promise<AgentSettings> {
  const none: AgentSettings = { file, scanDirs: [], packages: [], diagnostics: [] };
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
    const at = parseDocument(text, { prettyErrors: false, logLevel: 'silent' }).errors[0]?.pos[0];
    return { ...none, diagnostics: [invalid(file, text, wordsOf(error), at)] };
  }
  const parsed = settings.safeParse(value);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.findLast((name) => typeof name === 'string');
    const at = field === undefined ? undefined : text.indexOf(`"${field}"`);
    return { ...none, diagnostics: [invalid(file, text, describeFaults(parsed.error), at)] };
  }
  const { packages = [], subagents = {} } = parsed.data;
  const { projectRootResolution, agentScanDirs = [] } = subagents;
  return {
    file,
    ...(projectRootResolution === undefined ? {} : { projectRootResolution }),
    scanDirs: agentScanDirs.map((path) => absolute(path, base, home)),
    packages: packages.map((entry) => (typeof entry === 'string' ? entry : entry.source)),
    diagnostics: UNAPPLIED.filter((name) => Object.hasOwn(subagents, name)).map((name) => unapplied(file, text, name)),
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

function unapplied(file: string, text: string, field: string): AgentDiagnostic {
  const within = Math.max(0, text.indexOf('"subagents"'));
  const start = Math.max(0, text.indexOf(`"${field}"`, within));
  const range = new TextPositions(text).range(start, start + field.length + 2);
  return { file, ...agentProblem('settings_unapplied', { field }), ...range };
}
