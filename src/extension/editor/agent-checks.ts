/**
 * Problems in the definitions of agents: of all that this window's folders find, as they are on disk, and of those that are
 * open as they stand in the editor.
 */
import { isAbsolute, join, relative, sep } from 'node:path';
import * as vscode from 'vscode';
import type { Toolbox } from '../../client/index.ts';
import { unknownNames } from '../../core/agent-language/index.ts';
import { type AgentDirectory, type Discovered, type FoundAgent, isBelow, parseAgent } from '../../core/agents/index.ts';
import { type AgentDiagnostic, type ErrorValue, toErrorValue } from '../../protocol/index.ts';
import { workFolder } from './agent-definitions.ts';
import { toAgentDiagnostic } from './agent-diagnostics.ts';
import type { AgentNames } from './agent-names.ts';
import type { FindingDocs } from './finding-docs.ts';

const DEBOUNCE_MS = 150;
/** Milliseconds for which scripts that are being typed go by the agents that were found last. */
const RECENT_MS = 1000;

export interface AgentChecksOptions {
  toolbox: Pick<Toolbox, 'discoverAgents' | 'agentDir'>;
  docs: FindingDocs;
  names: AgentNames;
  log: vscode.LogOutputChannel;
}

/** What was found for a folder of the workspace, or why nothing could be. */
export interface LookedAt {
  folder: vscode.WorkspaceFolder;
  found: Discovered | ErrorValue;
}

export class AgentChecks implements vscode.Disposable {
  readonly #options: AgentChecksOptions;
  readonly #diagnostics = vscode.languages.createDiagnosticCollection('pi-lanes-agents');
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #looked = new vscode.EventEmitter<readonly LookedAt[]>();
  readonly #subscriptions: vscode.Disposable;
  readonly #watchers = new Map<string, vscode.Disposable>();
  readonly #typed = new Map<string, NodeJS.Timeout>();
  #onDisk = new Map<string, AgentDiagnostic[]>();
  #directories: readonly AgentDirectory[] = [];
  #timer: NodeJS.Timeout | undefined;
  #turn = 0;
  readonly #recent = new Map<string, { at: number; found: Promise<Discovered> }>();
  #names: string | undefined;
  /** Other agents than before can be launched. */
  readonly onDidChangeAgents = this.#changed.event;
  /** All folders have been looked through once more: something of their agents may be different. */
  readonly onDidLook = this.#looked.event;

  constructor(options: AgentChecksOptions) {
    this.#options = options;
    this.#subscriptions = vscode.Disposable.from(
      this.#diagnostics,
      this.#changed,
      this.#looked,
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) this.#checkSoon(document);
      }),
      vscode.workspace.onDidOpenTextDocument((document) => this.#checkSoon(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.#closed(document)),
      vscode.workspace.onDidSaveTextDocument((document) => {
        if (this.isDefinition(document)) this.lookSoon();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.lookSoon()),
      options.names.onDidChange(() => this.lookSoon()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.lookSoon()),
    );
  }

  /** The agents for a folder, as they are now. */
  agents(folder: vscode.Uri): Promise<Discovered> {
    return this.#options.toolbox.discoverAgents(folder.fsPath, { projectTrusted: vscode.workspace.isTrusted });
  }

  /** The same, as of a moment ago: for what is asked with every key. */
  recentAgents(folder: vscode.Uri): Promise<Discovered> {
    const key = folder.toString();
    const known = this.#recent.get(key);
    if (known && Date.now() - known.at < RECENT_MS) return known.found;
    const found = this.agents(folder);
    this.#recent.set(key, { at: Date.now(), found });
    return found;
  }

  lookSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.look().catch((error: unknown) => this.#options.log.error(`Looking for agents failed: ${error}`));
    }, DEBOUNCE_MS);
  }

  /** Looks through all folders of agents and shows what is wrong in them. */
  async look(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
    const [looked] = await Promise.all([
      Promise.all(folders.map((folder) => this.#lookAt(folder))),
      this.#options.docs.load(),
    ]);
    // A later look is on its way.
    if (turn !== this.#turn) return;
    const found = looked.flatMap((one) => ('code' in one.found ? [] : [one.found]));
    const byFile = new Map<string, Map<string, AgentDiagnostic>>();
    const ofNames = looked.flatMap(({ folder, found: one }) =>
      'code' in one ? [] : this.#unknownNames(one.agents, folder.uri),
    );
    for (const diagnostic of [...found.flatMap(({ diagnostics }) => diagnostics), ...ofNames]) {
      const { file, line, column, text, message } = diagnostic;
      const known = byFile.get(file) ?? new Map();
      byFile.set(file, known.set([line, column, text, message].join('\n'), diagnostic));
    }
    const before = this.#onDisk.keys();
    this.#onDisk = new Map([...byFile].map(([file, some]) => [file, [...some.values()]]));
    this.#directories = found.flatMap(({ directories }) => directories);
    this.#watch(found.length > 0);
    for (const file of new Set([...before, ...this.#onDisk.keys()])) this.#show(file);
    const names = JSON.stringify(found.map(({ agents }) => agents.map(({ name, aliases }) => [name, aliases])));
    const isChanged = this.#names !== undefined && this.#names !== names;
    this.#names = names;
    this.#recent.clear();
    if (isChanged) this.#changed.fire();
    this.#looked.fire(looked);
  }

  async #lookAt(folder: vscode.WorkspaceFolder): Promise<LookedAt> {
    try {
      return { folder, found: await this.agents(folder.uri) };
    } catch (error) {
      this.#options.log.error(`Looking for agents in ${folder.uri.fsPath} failed: ${error}`);
      return { folder, found: toErrorValue(error) };
    }
  }

  #show(file: string): void {
    const open = vscode.workspace.textDocuments.find(({ uri, isClosed }) => uri.fsPath === file && !isClosed);
    const onDisk = this.#onDisk.get(file) ?? [];
    // What a file is to others is known from the disk, what stands in it from the editor.
    const shown =
      open && this.isDefinition(open)
        ? [...onDisk.filter(({ code }) => code === 'name_duplicate'), ...this.#problemsOf(open)]
        : onDisk;
    const uri = open?.uri ?? vscode.Uri.file(file);
    this.#diagnostics.set(
      uri,
      shown.map((diagnostic) => toAgentDiagnostic(diagnostic, (code) => this.#options.docs.of(code))),
    );
  }

  #problemsOf(document: vscode.TextDocument): AgentDiagnostic[] {
    const source = this.#directoryOf(document)?.source ?? 'user';
    const text = document.getText();
    const { agent, diagnostics } = parseAgent(text, { file: document.uri.fsPath, source });
    if (!agent) return diagnostics;
    const { skills, ...names } = this.#options.names.of(workFolder(document).fsPath);
    // Its own folders of skills are not looked through with every key.
    const known = agent.skillPath === undefined ? { ...names, skills } : names;
    return [...diagnostics, ...unknownNames(agent, known, text)];
  }

  /** Files that come with Pi Lanes are checked by its tests. */
  #unknownNames(agents: readonly FoundAgent[], folder: vscode.Uri): AgentDiagnostic[] {
    // Pi is asked when somebody has a definition open.
    const { skills, ...names } = this.#options.names.heard(folder.fsPath);
    return agents
      .filter(({ source }) => source !== 'builtin')
      .flatMap((agent) => unknownNames(agent, agent.skillPath === undefined ? { ...names, skills } : names));
  }

  #directoryOf({ uri }: vscode.TextDocument): AgentDirectory | undefined {
    return this.#directories.findLast(({ path }) => isBelow(path, uri.fsPath));
  }

  isDefinition(document: vscode.TextDocument): boolean {
    return document.uri.scheme === 'file' && this.#directoryOf(document) !== undefined;
  }

  #checkSoon(document: vscode.TextDocument): void {
    if (!this.isDefinition(document)) return;
    const file = document.uri.fsPath;
    clearTimeout(this.#typed.get(file));
    this.#typed.set(
      file,
      setTimeout(() => {
        this.#typed.delete(file);
        this.#show(file);
      }, DEBOUNCE_MS),
    );
  }

  /** What was typed and not saved is gone. */
  #closed(document: vscode.TextDocument): void {
    if (!this.isDefinition(document)) return;
    clearTimeout(this.#typed.get(document.uri.fsPath));
    this.#typed.delete(document.uri.fsPath);
    this.#show(document.uri.fsPath);
  }

  /** Follows the folders there may be, and the settings that say which. */
  #watch(isNeeded: boolean): void {
    const wanted = new Map<string, () => vscode.Disposable>();
    if (isNeeded) {
      const { agentDir } = this.#options.toolbox;
      const directories = this.#directories.map(({ path }) => path);
      const workspace = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
      for (const path of directories) wanted.set(`definitions ${path}`, () => this.#watchDefinitions(path));
      const withSettings = [agentDir, ...workspace.map((folder) => join(folder, '.pi'))];
      const above = workspace.flatMap((folder) => directories.flatMap((path) => foldersBetween(folder, path)));
      for (const path of [...withSettings, ...above]) wanted.set(`settings ${path}`, () => this.#watchSettings(path));
    }
    for (const [key, watcher] of this.#watchers) {
      if (wanted.has(key)) continue;
      watcher.dispose();
      this.#watchers.delete(key);
    }
    for (const [key, watch] of wanted) {
      if (!this.#watchers.has(key)) this.#watchers.set(key, watch());
    }
  }

  /**
   * Of a folder that comes or goes the editor tells the folder alone: what came with it, or was put into it at once, it need not
   * have seen. So whatever comes or goes is looked after, whatever its name.
   */
  #watchDefinitions(folder: string): vscode.Disposable {
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(vscode.Uri.file(folder), '**'));
    const look = () => this.lookSoon();
    return vscode.Disposable.from(
      watcher,
      watcher.onDidCreate(look),
      watcher.onDidDelete(look),
      watcher.onDidChange(({ fsPath }) => {
        if (isBelow(folder, fsPath)) look();
      }),
    );
  }

  /** The settings of a folder, and the folder itself: with it come and go settings and definitions. */
  #watchSettings(folder: string): vscode.Disposable {
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(vscode.Uri.file(folder), '*'));
    const concerned = new Set([vscode.Uri.file(folder).fsPath, vscode.Uri.file(join(folder, 'settings.json')).fsPath]);
    const look = ({ fsPath }: vscode.Uri) => {
      if (concerned.has(fsPath)) this.lookSoon();
    };
    return vscode.Disposable.from(
      watcher,
      watcher.onDidCreate(look),
      watcher.onDidChange(look),
      watcher.onDidDelete(look),
    );
  }

  dispose(): void {
    this.#turn += 1;
    clearTimeout(this.#timer);
    for (const timer of this.#typed.values()) clearTimeout(timer);
    for (const watcher of this.#watchers.values()) watcher.dispose();
    this.#subscriptions.dispose();
  }
}

/** The folders on the way from one to another below it, without both. */
function foldersBetween(folder: string, below: string): string[] {
  const names = relative(folder, below).split(sep);
  if (names[0] === '..' || isAbsolute(names.join(sep))) return [];
  return names.slice(0, -1).map((_, at) => join(folder, ...names.slice(0, at + 1)));
}
