/**
 * Which agents there are for a folder. Files are read once and again only when they have changed; folders are looked through
 * with every call, so that each change is seen by the next one.
 */
import { homedir } from 'node:os';
import { type AgentDiagnostic, agentProblem } from '../../protocol/index.ts';
import type { Agent } from './agent.ts';
import type { AgentSettings } from './agent-settings.ts';
import { applySettings } from './apply-settings.ts';
import { bundledAgents } from './catalogue.ts';
import type { SettingPlace } from './overrides.ts';
import type { ParsedAgent } from './parse-agent.ts';
import { type AgentScope, findPlaces, type Place } from './places.ts';
import { readAgentFile } from './read-agent-file.ts';
import { type Candidate, type DirectoryState, MAX_CANDIDATES, type Walked, walk } from './walk.ts';

export interface DiscoveryRequest {
  /** Absolute. */
  cwd: string;
  agentDir: string;
  home?: string;
  env?: NodeJS.ProcessEnv;
  /** Default: both. */
  scope?: AgentScope;
  /** Default true. Without it nothing of the project is looked at. */
  projectTrusted?: boolean;
  /** Whether the settings of the project may change agents. Default: `projectTrusted`. */
  projectSettings?: boolean;
  /** Of the models of whoever launches: some overrides are made for one provider. */
  provider?: string;
}

export interface FoundAgent extends Agent {
  /** The package it comes with. */
  fromPackage?: { name: string; version?: string };
  /** Whether it comes from the project: from its own folders or its packages. */
  isOfProject: boolean;
  /** Fields that settings have changed, and where. Everything else is as the file says. */
  fromSettings?: Record<string, SettingPlace>;
}

/** A name that settings take away: nothing weaker takes its place. */
export interface DisabledAgent {
  agent: FoundAgent;
  by: SettingPlace;
}

/** A name whose strongest definition cannot be used: nothing weaker runs in its place. */
export interface RefusedAgent extends Pick<FoundAgent, 'name' | 'source' | 'file' | 'fromPackage' | 'isOfProject'> {
  /** Why. It stands in the definition, or in settings. */
  diagnostic: AgentDiagnostic;
}

/** A definition that does not count: a stronger one has the same name. */
export interface HiddenAgent {
  agent: Entry;
  /** The one that counts, usable or not. */
  by: Pick<FoundAgent, 'source' | 'file'>;
}

export interface AgentDirectory {
  path: string;
  source: Place['source'];
  state: DirectoryState;
  /** Markdown files that were looked at. */
  candidates: number;
}

export interface Discovered {
  /** One per name: of the project, of the user, of packages, builtin. */
  agents: FoundAgent[];
  refused: RefusedAgent[];
  disabled: DisabledAgent[];
  hidden: HiddenAgent[];
  diagnostics: AgentDiagnostic[];
  /** From the weakest to the strongest. */
  directories: AgentDirectory[];
}

/** One of the definitions of a name, as its file says. */
export interface Definition {
  source: Agent['source'];
  owner: Place['owner'];
  /** Absolute; of a builtin agent the name of the file it is made from. */
  file: string;
  entry: Entry;
}

interface Cached {
  stamp: string;
  parsed: ParsedAgent;
}

type Entry = FoundAgent | RefusedAgent;
type Layer = Map<string, Entry>;

/** Milliseconds within which a file can change without its times telling. */
const BLUR_MS = 50;
const READ_AT_ONCE = 8;
const MAX_CACHED = 20_000;
const SHOWN_FIRST: readonly Agent['source'][] = ['project', 'user', 'package', 'runtime', 'builtin'];

export class AgentDiscovery {
  readonly #files = new Map<string, Cached>();
  #builtin: FoundAgent[] | undefined;

  async discover(request: DiscoveryRequest): Promise<Discovered> {
    const { cwd, agentDir, home = homedir(), env = process.env, scope = 'both', projectTrusted = true } = request;
    const { projectSettings = projectTrusted, provider } = request;
    const { places, settings, diagnostics } = await findPlaces({
      cwd,
      agentDir,
      home,
      env,
      scope,
      projectTrusted,
      projectSettings,
    });
    const walks = await Promise.all(places.map(({ path }) => walk(path)));
    const effective: Layer = new Map(this.#bundled().map((agent) => [agent.name, agent]));
    const directories: AgentDirectory[] = [];
    const beneath: Entry[] = [];
    for (const [at, place] of places.entries()) {
      const walked = walks[at];
      if (!walked) continue;
      const { state, candidates } = walked;
      directories.push({ path: place.path, source: place.source, state, candidates: candidates.length });
      diagnostics.push(...walkDiagnostics(place, walked));
      for (const [name, entry] of await this.#layer(place, candidates, diagnostics, beneath)) {
        const weaker = effective.get(name);
        if (weaker) beneath.push(weaker);
        effective.set(name, entry);
      }
    }
    const hidden = beneath.flatMap((agent): HiddenAgent[] => {
      const by = effective.get(agent.name);
      // A folder can be reached in two ways: then it is the same definition twice.
      return by && by.file !== agent.file ? [{ agent, by: { source: by.source, file: by.file } }] : [];
    });
    const found = { diagnostics: once(diagnostics), directories };
    const result: Discovered = { agents: [], refused: [], disabled: [], hidden, ...found };
    for (const entry of effective.values()) sortIn(result, entry, settings, provider);
    const bySource = ({ source }: FoundAgent) => SHOWN_FIRST.indexOf(source);
    result.agents.sort((a, b) => bySource(a) - bySource(b));
    return result;
  }

  /** Every definition of a name, from the weakest to the strongest, with nothing that settings change. */
  async definitions(name: string, request: DiscoveryRequest): Promise<Definition[]> {
    const { cwd, agentDir, home = homedir(), env = process.env, projectTrusted = true } = request;
    const asked = { cwd, agentDir, home, env, scope: 'both', projectTrusted, projectSettings: false } as const;
    const { places } = await findPlaces(asked);
    const found = this.#bundled()
      .filter((agent) => agent.name === name)
      .map((entry): Definition => ({ source: 'builtin', owner: 'user', file: entry.file, entry }));
    for (const place of places) {
      const { source, owner } = place;
      const entry = (await this.#layer(place, (await walk(place.path)).candidates, [], [])).get(name);
      if (entry) found.push({ source, owner, file: entry.file, entry });
    }
    return found;
  }

  /** Of one folder: of those with the same name the last counts. */
  async #layer(
    place: Place,
    candidates: readonly Candidate[],
    diagnostics: AgentDiagnostic[],
    beneath: Entry[],
  ): Promise<Layer> {
    const layer: Layer = new Map();
    const files = new Map<string, string>();
    for (let from = 0; from < candidates.length; from += READ_AT_ONCE) {
      const some = candidates.slice(from, from + READ_AT_ONCE);
      const read = await Promise.all(some.map((candidate) => this.#read(candidate, place)));
      for (const [at, parsed] of read.entries()) {
        const path = some[at]?.path;
        if (!parsed || path === undefined) continue;
        diagnostics.push(...parsed.diagnostics);
        const entry = entryOf(parsed, place, path);
        if (!entry) continue;
        const earlier = files.get(entry.name);
        if (earlier !== undefined) diagnostics.push(duplicate(earlier, entry.name, path));
        const replaced = layer.get(entry.name);
        if (replaced) beneath.push(replaced);
        files.set(entry.name, path);
        layer.set(entry.name, entry);
      }
    }
    return layer;
  }

  async #read({ path, stats }: Candidate, { source }: Place): Promise<ParsedAgent | undefined> {
    const stamp = [source, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(' ');
    const cached = this.#files.get(path);
    // Whoever has seen this many files no longer needs the first of them.
    if (this.#files.size > MAX_CACHED) this.#files.clear();
    if (cached?.stamp === stamp) return cached.parsed;
    const from = Date.now();
    const parsed = await readAgentFile({ file: path, source });
    // A file that was written just now could be written once more at the same time.
    if (parsed && from - Math.max(stats.mtimeMs, stats.ctimeMs) > BLUR_MS) this.#files.set(path, { stamp, parsed });
    else this.#files.delete(path);
    return parsed;
  }

  #bundled(): FoundAgent[] {
    this.#builtin ??= bundledAgents().map((agent) => ({ ...agent, isOfProject: false }));
    return this.#builtin;
  }
}

function sortIn(
  { agents, refused, disabled }: Discovered,
  entry: Entry,
  settings: readonly AgentSettings[],
  provider: string | undefined,
): void {
  if ('diagnostic' in entry) {
    refused.push(entry);
    return;
  }
  const applied = applySettings(entry, settings, provider);
  if (applied.state === 'usable') agents.push(applied.agent);
  else if (applied.state === 'disabled') disabled.push({ agent: applied.agent, by: applied.by });
  else {
    const { name, source, file, fromPackage, isOfProject } = entry;
    const { diagnostic } = applied;
    refused.push({ name, source, file, ...(fromPackage && { fromPackage }), isOfProject, diagnostic });
  }
}

function entryOf({ agent, name, diagnostics }: ParsedAgent, place: Place, file: string): Entry | undefined {
  const { owner, source, package: fromPackage } = place;
  const origin = { ...(fromPackage && { fromPackage }), isOfProject: owner === 'project' };
  if (agent) return { ...agent, ...origin };
  const diagnostic = diagnostics.find(({ severity }) => severity === 'error');
  return name === undefined || !diagnostic ? undefined : { name, source, file, ...origin, diagnostic };
}

/** A folder can be reached in two ways. */
function once(diagnostics: readonly AgentDiagnostic[]): AgentDiagnostic[] {
  return [
    ...new Map(
      diagnostics.map((one) => [[one.file, one.line, one.column, one.text, one.message].join('\n'), one]),
    ).values(),
  ];
}

function duplicate(file: string, name: string, other: string): AgentDiagnostic {
  return { file, name, ...agentProblem('name_duplicate', { name, other }), ...START };
}

const START = { line: 1, column: 1, endLine: 1, endColumn: 1 };

function walkDiagnostics({ path }: Place, { state, unreadable, isCut }: Walked): AgentDiagnostic[] {
  return [
    ...unreadable.map(({ path: file, reason }) => ({
      file,
      ...agentProblem('directory_unreadable', { reason }),
      ...START,
    })),
    ...(state === 'not-a-directory' ? [{ file: path, ...agentProblem('directory_not_folder'), ...START }] : []),
    ...(isCut ? [{ file: path, ...agentProblem('directory_too_large', { max: MAX_CANDIDATES }), ...START }] : []),
  ];
}
