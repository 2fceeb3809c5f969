/** Creating, changing and removing agents of the user and of a project, and taking that back. One change at a time. */
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { lanesError } from '../../protocol/index.ts';
import { findAgent } from '../agent-names/index.ts';
import { EMPTY_JSON, editedJson } from '../json-files/index.ts';
import { waitForLock } from '../locks/index.ts';
import { type AgentConfig, newName, readConfig } from './agent-config.ts';
import { readAgentSettings } from './agent-settings.ts';
import { bundledText } from './catalogue.ts';
import { type HistoryEntry, readHistory, writeHistory } from './change-history.ts';
import type { AgentDiscovery, Definition, DiscoveryRequest } from './discovery.ts';
import { editDefinition, writeDefinition } from './edit-definition.ts';
import {
  ABSENT,
  applyChanges,
  type FileChange,
  type FileState,
  fileState,
  inverse,
  readState,
} from './file-changes.ts';
import { movedOverrides } from './moved-overrides.ts';
import { parseAgent } from './parse-agent.ts';
import { findMarkedRoot, type ProjectRoot } from './project-root.ts';
import { checkEnabled, planSwitch } from './switching.ts';

export type ChangeScope = 'user' | 'project';
export type ChangeAction =
  | 'create'
  | 'update'
  | 'delete'
  | 'duplicate'
  | 'eject'
  | 'reset'
  | 'disable'
  | 'enable'
  | 'load'
  | 'undo';

export interface AgentChange {
  action: ChangeAction;
  /** Of the agent, as it is called now; of `load` that of the profile. */
  name: string;
  /** Files that were written or removed, absolute. None: there was nothing to do. */
  files: string[];
  /** A definition that does not count any more, because the new one is stronger. */
  hides?: Definition['source'];
  /** What was taken back, of `undo`. */
  undone?: string;
  /** Whose settings say so, of `disable` and `enable`. */
  scope?: ChangeScope;
  /** Settings about the old name that stay, because there are some about the new one; of an `update` that renames. */
  left?: string[];
  /** Agents whose overrides are others now, or gone, of `load`. */
  replaced?: string[];
}

type Place = Omit<DiscoveryRequest, 'scope' | 'provider' | 'projectSettings'>;

const LOCK_MS = 10_000;

export class AgentChanges {
  readonly #discovery: AgentDiscovery;
  readonly #place: Place;

  /** @param discovery that is asked for agents elsewhere, too: what it has seen, it need not read again */
  constructor(discovery: AgentDiscovery, place: Place) {
    this.#discovery = discovery;
    this.#place = place;
  }

  /** @throws LanesError `agent_config_invalid`, `agent_exists`, `agent_scope_needed:no-project`, `agent_not_editable` */
  create(config: AgentConfig, scope: ChangeScope = 'user'): Promise<AgentChange> {
    return this.#alone(async () => {
      const { fields, systemPrompt = '' } = readConfig(config);
      const given = new Map(fields);
      const called = newName(given.get('name'));
      if (given.get('description') === undefined) throw lanesError('agent_config_invalid:description');
      const all = new Map<string, unknown>([
        ['systemPromptMode', 'replace'],
        ['inheritProjectContext', false],
        ['inheritGlobalContext', false],
        ['inheritSkills', false],
        ...fields,
        ['name', called],
      ]);
      const folder = await this.#folder(scope);
      const text = writeDefinition(all, systemPrompt);
      const { name, agent, diagnostics } = parseAgent(text, { file: join(folder, `${called}.md`), source: scope });
      const fault = diagnostics.find(({ severity, code }) => severity === 'error' || code === 'field_ignored');
      if (!agent || name === undefined || fault)
        throw lanesError('agent_config_invalid:value', { reason: fault?.message ?? '' });
      return this.#add('create', name, scope, folder, fileState(text));
    });
  }

  /** @throws LanesError as `create`, and `agent_unknown`, `agent_scope_needed` when both have such an agent */
  update(given: string, config: AgentConfig, scope?: ChangeScope): Promise<AgentChange> {
    return this.#alone(async () => {
      const name = await this.#nameOf(given);
      const { file: listed, owner } = await this.#custom(name, scope);
      const { fields, systemPrompt } = readConfig(config);
      const renamed = fields.map(([field, value]) => {
        if (['name', 'description'].includes(field) && value === undefined)
          throw lanesError('agent_config_invalid:needed', { field });
        return [field, field === 'name' ? newName(value) : value] as const;
      });
      const file = await realpath(listed);
      const before = await readState(file);
      const change = { fields: renamed, ...(systemPrompt === undefined ? {} : { systemPrompt }) };
      const text = editDefinition(textOf(before, file), change, file);
      const after = fileState(text, before);
      const now = parseAgent(text, { file, source: owner }).name ?? name;
      if (text === textOf(before, file)) return { action: 'update', name, files: [] };
      if (now === name) return this.#make('update', name, [{ file, before, after }]);
      // The file of an agent is called as it is. A link says where the file is: that is for its owner to change.
      if (file !== (await realpathOfFolder(listed))) throw lanesError('agent_not_editable:link', { file: listed });
      const target = join(dirname(file), `${now}.md`);
      await this.#checkFree(now, owner, target);
      const moved = [
        { file: target, before: ABSENT, after },
        { file, before, after: ABSENT },
      ];
      const settings = await this.#movedSettings(name, now, listed);
      const made = await this.#make('update', now, [...moved, ...settings.changes]);
      return settings.left.length === 0 ? made : { ...made, left: settings.left };
    });
  }

  /** Removes a definition of the user or of the project; of a link the link. @throws LanesError as `update` */
  delete(given: string, scope?: ChangeScope): Promise<AgentChange> {
    return this.#alone(async () => {
      const name = await this.#nameOf(given);
      const { file } = await this.#custom(name, scope);
      return this.#make('delete', name, [{ file, before: await readState(file), after: ABSENT }]);
    });
  }

  /** Copies the file of a package, else of a builtin agent, to the byte. @throws LanesError as `create`, `agent_not_bundled` */
  eject(given: string, scope: ChangeScope = 'user'): Promise<AgentChange> {
    return this.#alone(async () => {
      const name = await this.#nameOf(given);
      const bundled = await this.#bundled(name);
      if (!bundled) throw lanesError('agent_not_bundled', { name });
      const original = bundledText(name);
      const isPackage = bundled.source === 'package';
      const bytes = isPackage ? textBytes(await readState(await realpath(bundled.file))) : Buffer.from(original ?? '');
      return this.#add('eject', name, scope, await this.#folder(scope), fileState(bytes));
    });
  }

  /**
   * The definition that counts, once more under another name: without its aliases, which would mean both, and in no package.
   *
   * @throws LanesError as `create`, `agent_not_editable` when the name cannot be changed without changing more
   */
  duplicate(given: string, called: string, scope: ChangeScope = 'user'): Promise<AgentChange> {
    return this.#alone(async () => {
      const name = await this.#nameOf(given);
      const original = (await this.#discovery.definitions(name, this.#place)).at(-1);
      if (!original) throw lanesError('agent_not_editable:scope', { name, scope });
      const { file, source } = original;
      const text =
        source === 'builtin' ? (bundledText(name) ?? '') : textOf(await readState(await realpath(file)), file);
      const fields = [
        ['name', newName(called)] as const,
        ['aliases', undefined] as const,
        ['package', undefined] as const,
      ];
      const copy = editDefinition(text, { fields }, file);
      return this.#add('duplicate', newName(called), scope, await this.#folder(scope), fileState(copy));
    });
  }

  /** Back to what comes with a package or with the product. @throws LanesError `agent_not_bundled`, `agent_scope_needed` */
  reset(given: string, scope?: ChangeScope): Promise<AgentChange> {
    return this.#alone(async () => {
      const name = await this.#nameOf(given);
      if (!(await this.#bundled(name))) throw lanesError('agent_not_bundled', { name });
      const found: { scope: ChangeScope; changes: FileChange[] }[] = [];
      for (const one of scope === undefined ? (['user', 'project'] as const) : [scope]) {
        const changes = await this.#resetting(name, one, scope !== undefined);
        if (changes.length > 0) found.push({ scope: one, changes });
      }
      const [only, other] = found;
      if (only && other)
        throw scopeNeeded(
          name,
          [only, other].map(({ changes }) => changes[0]?.file ?? ''),
        );
      return this.#make('reset', name, only?.changes ?? []);
    });
  }

  /**
   * Says in settings that an agent is disabled, or no longer. @throws LanesError `agent_unknown`, `agent_scope_needed:no-project`,
   * `agent_kept`, `agent_disabled` when somebody else still disables it, `config_invalid` for settings that cannot be changed
   */
  switch(given: string, isEnabled: boolean, wanted?: ChangeScope): Promise<AgentChange> {
    return this.#alone(async () => {
      const project = (await this.#root())?.settings;
      const found = await this.#discovery.discover(this.#place);
      const { name, scope, path, value } = planSwitch(given, isEnabled, { found, scope: wanted, project });
      const changes = await this.#withSetting(await this.#settings(scope), path, value);
      const change = await this.#make(isEnabled ? 'enable' : 'disable', name, changes);
      if (isEnabled) checkEnabled(name, await this.#discovery.discover(this.#place));
      return { ...change, scope };
    });
  }

  /**
   * Puts overrides into the settings of the user, in the place of those there; nothing else in them changes.
   *
   * @param profile their name
   * @throws LanesError `config_invalid` for settings that cannot be changed
   */
  load(profile: string, overrides: Readonly<Record<string, unknown>>): Promise<AgentChange> {
    return this.#alone(async () => {
      const given = await this.#settings('user');
      const path = ['subagents', 'agentOverrides'];
      const changes = await this.#withSetting(given, path, overrides);
      const before = (await readAgentSettings(given, this.#place.agentDir)).raw;
      const replaced = Object.keys(before).filter(
        (name) => !Object.hasOwn(overrides, name) || !isDeepStrictEqual(before[name], overrides[name]),
      );
      const change = await this.#make('load', profile, changes);
      return { ...change, replaced };
    });
  }

  /**
   * Takes back the latest change that was made here.
   *
   * @param meant refused when another one is the latest
   * @throws LanesError `agent_nothing_to_undo`, `agent_changed`
   */
  undo(meant?: AgentChange): Promise<AgentChange> {
    return this.#alone(async () => {
      const entries = await readHistory(this.#history);
      const last = entries.pop();
      if (!last) throw lanesError('agent_nothing_to_undo');
      if (meant && !isOf(meant, last))
        throw lanesError('agent_nothing_to_undo:later', { name: meant.name, action: last.action, other: last.name });
      const changes = inverse(last.changes);
      await applyChanges(changes);
      await writeHistory(this.#history, entries);
      return { action: 'undo', name: last.name, files: changes.map(({ file }) => file), undone: last.action };
    });
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const path = join(this.#place.agentDir, 'pi-lanes', 'agent-changes');
    const lock = await waitForLock(path, { purpose: 'changing agents', deadlineMs: LOCK_MS });
    try {
      return await work();
    } finally {
      await lock.release();
    }
  }

  get #history(): string {
    return join(this.#place.agentDir, 'pi-lanes', 'agent-changes.json');
  }

  async #make(action: ChangeAction, name: string, changes: readonly FileChange[]): Promise<AgentChange> {
    const files = changes.map(({ file }) => file);
    if (files.length === 0) return { action, name, files };
    const before = await readHistory(this.#history);
    const entry: HistoryEntry = { action, name, changes: [...changes] };
    await writeHistory(this.#history, [...before, entry]);
    try {
      await applyChanges(changes);
    } catch (error) {
      await writeHistory(this.#history, before);
      throw error;
    }
    return { action, name, files };
  }

  async #add(action: ChangeAction, name: string, scope: ChangeScope, folder: string, after: FileState) {
    const file = join(folder, `${name}.md`);
    const weaker = await this.#checkFree(name, scope, file);
    const change = await this.#make(action, name, [{ file, before: ABSENT, after }]);
    return weaker === undefined ? change : { ...change, hides: weaker };
  }

  /** @returns the source of the strongest definition that a new one would hide */
  async #checkFree(name: string, scope: ChangeScope, file: string): Promise<Definition['source'] | undefined> {
    const definitions = await this.#discovery.definitions(name, this.#place);
    const own = definitions.findLast(({ source }) => source === scope);
    if (own) throw lanesError('agent_exists', { name, file: own.file });
    if ((await readState(file)).kind !== 'absent') throw lanesError('agent_exists:file', { file });
    return scope === 'user' && definitions.some(({ source }) => source === 'project')
      ? undefined
      : definitions.at(-1)?.source;
  }

  /** The whole name of what is meant. */
  async #nameOf(given: string): Promise<string> {
    const { agents, disabled, refused } = await this.#discovery.discover(this.#place);
    const known = [
      ...agents,
      ...disabled.map(({ agent }) => agent),
      ...refused.map(({ name }) => ({ name, aliases: [] })),
    ];
    return findAgent(given, known).name;
  }

  async #custom(name: string, scope: ChangeScope | undefined) {
    const definitions = await this.#discovery.definitions(name, this.#place);
    const of = (owner: ChangeScope) => {
      const found = definitions.findLast(({ source }) => source === owner);
      return found ? { file: found.file, owner } : undefined;
    };
    const user = scope === 'project' ? undefined : of('user');
    const project = scope === 'user' ? undefined : of('project');
    if (user && project) throw scopeNeeded(name, [user.file, project.file]);
    const only = user ?? project;
    if (only) return only;
    const last = definitions.at(-1);
    throw last && scope === undefined
      ? lanesError('agent_not_editable:source', { name, source: last.source })
      : lanesError('agent_not_editable:scope', { name, scope: scope ?? 'user' });
  }

  /** What is left when nobody has made a definition of their own: of a package rather than builtin. */
  async #bundled(name: string): Promise<Definition | undefined> {
    const definitions = await this.#discovery.definitions(name, this.#place);
    return definitions.findLast(({ source }) => source === 'package' || source === 'builtin');
  }

  /** The settings of the user and of this project go with an agent that gets another name. */
  async #movedSettings(from: string, to: string, file: string): Promise<{ changes: FileChange[]; left: string[] }> {
    const definitions = await this.#discovery.definitions(from, this.#place);
    const isShared = definitions.some((one) => one.file !== file);
    const changes: FileChange[] = [];
    const left: string[] = [];
    const project = (await this.#root())?.settings.file;
    for (const given of [await this.#settings('user'), ...(project === undefined ? [] : [project])]) {
      const settings = await realpath(given).catch(() => given);
      const before = await readState(settings);
      if (before.kind === 'absent') continue;
      const moved = movedOverrides(settings, textOf(before, settings), { from, to, isShared });
      left.push(...moved.left.map((setting) => `${setting} (${given})`));
      if (moved.text !== undefined) changes.push({ file: settings, before, after: fileState(moved.text, before) });
    }
    return { changes, left };
  }

  async #root(): Promise<ProjectRoot | undefined> {
    const { cwd, home = homedir(), projectTrusted = true } = this.#place;
    return projectTrusted ? findMarkedRoot(cwd, home) : undefined;
  }

  async #neededRoot(): Promise<ProjectRoot> {
    const root = await this.#root();
    if (root === undefined) throw lanesError('agent_scope_needed:no-project', { cwd: this.#place.cwd });
    return root;
  }

  async #folder(scope: ChangeScope): Promise<string> {
    return scope === 'user'
      ? join(this.#place.agentDir, 'agents')
      : join((await this.#neededRoot()).path, '.pi', 'agents');
  }

  async #settings(scope: ChangeScope): Promise<string> {
    return scope === 'user' ? join(this.#place.agentDir, 'settings.json') : (await this.#neededRoot()).settings.file;
  }

  /** None when the file says so already. */
  async #withSetting(given: string, path: readonly string[], value: unknown): Promise<FileChange[]> {
    const file = await realpath(given).catch(() => given);
    const before = await readState(file);
    const text = before.kind === 'absent' ? EMPTY_JSON : textOf(before, file);
    const after = editedJson(file, text, path, value);
    return after === undefined ? [] : [{ file, before, after: fileState(after, before) }];
  }

  async #resetting(name: string, scope: ChangeScope, isNamed: boolean): Promise<FileChange[]> {
    if (scope === 'project' && !isNamed && (await this.#root()) === undefined) return [];
    const definitions = await this.#discovery.definitions(name, this.#place);
    const own = definitions.findLast(({ source }) => source === scope);
    return [
      ...(own ? [{ file: own.file, before: await readState(own.file), after: ABSENT }] : []),
      ...(await this.#withSetting(await this.#settings(scope), ['subagents', 'agentOverrides', name], undefined)),
    ];
  }
}

function isOf({ action, name, files }: AgentChange, entry: HistoryEntry): boolean {
  const changed = entry.changes.map(({ file }) => file);
  return action === entry.action && name === entry.name && files.join('\n') === changed.join('\n');
}

function scopeNeeded(name: string, files: readonly string[]) {
  return lanesError('agent_scope_needed', { name, files: files.join(', ') });
}

function textBytes(state: FileState): Buffer {
  return state.kind === 'file' ? state.bytes : Buffer.alloc(0);
}

function textOf(state: FileState, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(textBytes(state));
  } catch (error) {
    throw lanesError('agent_not_editable:text', { file }, { cause: error });
  }
}

async function realpathOfFolder(file: string): Promise<string> {
  return join(await realpath(dirname(file)), file.slice(dirname(file).length + 1));
}
