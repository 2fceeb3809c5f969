/** What a client needs to start runs: the folders, and the Node and Pi of this machine, found once and checked again cheaply. */

import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AgentChanges,
  AgentDiscovery,
  type AgentScope,
  type Discovered,
  findProjectRoot,
} from '../core/agents/index.ts';
import { probeModels, probeTools } from '../core/children/index.ts';
import { checkToolRules } from '../core/launch/index.ts';
import {
  EXCLUDED_MS,
  holding,
  type ModelExclusion,
  ModelRegistry,
  readExclusions,
  readModelBounds,
} from '../core/models/index.ts';
import { childEnvironment } from '../core/processes/index.ts';
import { agentDirectory, type RootLayout, rootLayout } from '../core/projects/index.ts';
import {
  type ConfiguredPath,
  type ConfiguredWorktrees,
  configuredExclusionMs,
  configuredNode,
  configuredPi,
  configuredRetentionDays,
  configuredSystemdScope,
  configuredWorktrees,
  configuredWriters,
  DEFAULT_RETENTION_DAYS,
  parseRetentionDays,
  readLaunchSettings,
} from '../core/settings/index.ts';
import {
  atLeast,
  type FindPiOptions,
  FULL_PI,
  findNode,
  findPi,
  type NodeLocation,
  type PiLocation,
  ProbeCache,
} from '../core/toolchain/index.ts';
import { ToolRegistry } from '../core/tools/index.ts';
import type {
  LaunchDefaults,
  LaunchRecord,
  PiInstallation,
  ToolRules,
  WorktreeSettings,
  Writers,
} from '../protocol/index.ts';

/** What a client knows better than the shared file. */
export interface SettingOverrides {
  piPath?: string;
  nodePath?: string;
  systemdScope?: boolean;
  /** Each of them wins by itself. */
  worktrees?: ConfiguredWorktrees;
  writers?: Writers | undefined;
  /** Not checked yet: a wrong value must not stop everything else. */
  retentionDays?: unknown;
}

export interface ToolboxOptions {
  env: NodeJS.ProcessEnv;
  /** Folder with `runner.mjs` and `runtime.json`. */
  distDirectory: string;
  client: { kind: string; version: string };
  /** Settings of the client that win over the shared file; absent values fall through. */
  overrides?: () => SettingOverrides;
}

/** What launches do that call and agent leave open, and the rules that hold for all of a run. */
export interface LaunchSettings {
  defaults: LaunchDefaults;
  toolRules: ToolRules;
}

export interface Tools {
  node: NodeLocation;
  pi: PiLocation;
  installation: PiInstallation;
  models: ModelRegistry;
  /** The tools there are in a folder, those of extensions of its project only with trust. */
  toolsIn: (cwd: string, trust: LaunchRecord['trust']) => Promise<ToolRegistry>;
}

export class Toolbox {
  readonly env: NodeJS.ProcessEnv;
  readonly agentDir: string;
  readonly root: RootLayout;
  readonly distDirectory: string;
  readonly client: { kind: string; version: string };
  readonly cache: ProbeCache;
  readonly #overrides: () => SettingOverrides;
  readonly #agents = new AgentDiscovery();

  constructor(options: ToolboxOptions) {
    this.env = options.env;
    this.agentDir = agentDirectory(options.env);
    this.root = rootLayout(this.agentDir);
    this.distDirectory = options.distDirectory;
    this.client = options.client;
    this.cache = new ProbeCache(this.root.cache);
    this.#overrides = options.overrides ?? (() => ({}));
  }

  /*
   * Settings, each read when it is needed. All throw `config_invalid` when the shared file says something they cannot be.
   */

  async piPath(): Promise<ConfiguredPath> {
    const { piPath } = this.#overrides();
    if (piPath !== undefined) return { path: piPath, source: 'setting piLanes.pi.path' };
    return configuredPi(this.root.config, this.env);
  }

  async nodePath(): Promise<ConfiguredPath> {
    const { nodePath } = this.#overrides();
    if (nodePath !== undefined) return { path: nodePath, source: 'setting piLanes.node.path' };
    return configuredNode(this.root.config, this.env);
  }

  /** Runners are started in scopes of systemd, where that can be done. */
  async systemdScope(): Promise<boolean> {
    return this.#overrides().systemdScope ?? (await configuredSystemdScope(this.root.config)) ?? false;
  }

  /** How worktrees are made. No worktree may be where Pi looks for extensions. */
  async worktreeSettings(): Promise<WorktreeSettings> {
    const own = this.#overrides().worktrees ?? {};
    const shared = await configuredWorktrees(this.root.config, this.env);
    const folder = own.folder ?? shared.folder;
    const copies = own.copies ?? shared.copies;
    const links = own.links ?? shared.links;
    const path = own.setupHook ?? shared.setupHook;
    const timeoutMs = own.setupHookTimeoutMs ?? shared.setupHookTimeoutMs;
    return {
      refused: [join(this.agentDir, 'extensions')],
      ...(folder === undefined ? {} : { folder }),
      ...(copies === undefined ? {} : { copies }),
      ...(links === undefined ? {} : { links }),
      ...(path === undefined ? {} : { setupHook: { path, ...(timeoutMs === undefined ? {} : { timeoutMs }) } }),
    };
  }

  /** What a child that may change files does in a checkout where another one does. */
  async writers(): Promise<Writers> {
    return this.#overrides().writers ?? (await configuredWriters(this.root.config, this.env)) ?? 'wait';
  }

  /** Days a run is kept after its end; 0: for ever. Throws `config_invalid`. */
  async retentionDays(): Promise<number> {
    const own = this.#overrides().retentionDays;
    if (own !== undefined) return parseRetentionDays(own, 'The setting piLanes.retention.days');
    return (await configuredRetentionDays(this.root.config)) ?? DEFAULT_RETENTION_DAYS;
  }

  /**
   * The agents there are for a folder, as they are now.
   *
   * @param projectTrusted without it nothing of the project is looked at
   * @param projectSettings without it the settings of the project change no agent; default: `projectTrusted`
   */
  discoverAgents(
    cwd: string,
    {
      scope = 'both',
      projectTrusted = true,
      projectSettings = projectTrusted,
    }: { scope?: AgentScope; projectTrusted?: boolean; projectSettings?: boolean } = {},
  ): Promise<Discovered> {
    const { env, agentDir } = this;
    return this.#agents.discover({ cwd, agentDir, home: this.home, env, scope, projectTrusted, projectSettings });
  }

  /** Changes of the agents of a folder. @param projectTrusted without it only those of the user can be changed */
  agentChanges(cwd: string, projectTrusted = true): AgentChanges {
    const { env, agentDir, home } = this;
    return new AgentChanges(this.#agents, { cwd, agentDir, home, env, projectTrusted });
  }

  get home(): string {
    return (process.platform === 'win32' ? this.env['USERPROFILE'] : this.env['HOME']) || homedir();
  }

  /** Where it is kept which models are left out for a while. */
  get exclusionsFile(): string {
    return this.env['PI_MODEL_EXCLUSIONS_PATH'] || this.root.modelExclusions;
  }

  /** Models that are left out now because their provider has failed. Throws `config_invalid`. */
  async exclusions(): Promise<ModelExclusion[]> {
    return holding(
      await readExclusions(this.exclusionsFile),
      Date.now(),
      (await configuredExclusionMs(this.root.config)) ?? EXCLUDED_MS,
    );
  }

  /** What settings say for launches in a folder, those of a project only with trust. Throws `config_invalid`. */
  async launchSettings(cwd: string, trust: LaunchRecord['trust']): Promise<LaunchSettings> {
    const own = join(this.agentDir, 'settings.json');
    const project = trust === 'approve' ? await findProjectRoot(cwd, this.home) : undefined;
    const { defaults, toolRules } = await readLaunchSettings(this.root.config, this.env);
    checkToolRules(toolRules, this.root.config);
    const { scope, maxThinking } = await readModelBounds(project ? [own, project.settings.file] : [own]);
    return {
      defaults: {
        ...defaults,
        ...(scope === undefined ? {} : { modelScope: scope }),
        ...(maxThinking === undefined ? {} : { maxThinking }),
      },
      toolRules,
    };
  }

  async node(): Promise<NodeLocation> {
    const { path, source } = await this.nodePath();
    return findNode({ configured: path, configuredIn: source, env: this.env, cache: this.cache });
  }

  async pi(node: FindPiOptions['node']): Promise<PiLocation> {
    const { path, source } = await this.piPath();
    return findPi({ configured: path, configuredIn: source, ...this.piPlaces(node) });
  }

  /** What looking for Pi and installing it have in common. */
  piPlaces(node: FindPiOptions['node']): Omit<FindPiOptions, 'configured'> {
    return { env: this.env, installed: this.root.pi, cache: this.cache, node };
  }

  /** Throws the first thing that is missing, with its cure. */
  async tools(): Promise<Tools> {
    const node = await this.node();
    const pi = await this.pi(node);
    const asNode = node.electron ? { env: { ELECTRON_RUN_AS_NODE: '1' } } : {};
    const command =
      pi.kind === 'script' ? { file: node.file, args: [pi.file], ...asNode } : { file: pi.file, args: [] };
    const installation = { command, version: pi.version, packageName: pi.packageName };
    const env = childEnvironment(this.env, {
      PI_CODING_AGENT_DIR: this.agentDir,
      ...(node.electron ? { ELECTRON_RUN_AS_NODE: '1' } : {}),
    });
    const models = new ModelRegistry({
      cache: this.cache,
      agentDir: this.agentDir,
      env: this.env,
      piFile: pi.file,
      probe: () => probeModels(command, env),
    });
    const toolsIn = async (cwd: string, trust: LaunchRecord['trust']) => {
      const project = trust === 'approve' ? (await findProjectRoot(cwd, this.home))?.path : undefined;
      const extension = join(this.distDirectory, 'pi-probe.mjs');
      // Without trust not in the project's folder, as for models.
      const place = { cwd: project ?? tmpdir(), trust: project === undefined ? 'no-approve' : trust };
      return new ToolRegistry({
        cache: this.cache,
        agentDir: this.agentDir,
        piFile: pi.file,
        project,
        probe: () => probeTools({ pi: command, version: pi.version, env, extension, ...place }),
      });
    };
    return { node, pi, installation, models, toolsIn };
  }
}

/** What a person should know about a Pi that works only in part; `undefined` when all works. */
export function piLimits(pi: PiLocation): string | undefined {
  if (atLeast(pi.version, FULL_PI)) return undefined;
  return `Pi ${pi.version} is older than ${FULL_PI}: one agent at a time and Stop work; the end of its work is inferred, and project trust is not known to it.`;
}
