/**
 * What the Library knows: the agents and the workflow scripts of each folder of this window. Nothing is looked for before
 * somebody asks; from then on it follows what changes.
 */
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { isWorkflowPath } from '../../core/workflow-files/index.ts';
import { type AgentDiagnostic, type ErrorValue, toErrorValue } from '../../protocol/index.ts';
import type { AgentChecks, LookedAt, WorkflowChecks } from '../editor/index.ts';
import { absoluteFolders, watchWorkflowFolders } from '../editor/workflow-files.ts';
import { type AgentRow, agentRows, folderProblems } from './library-layout.ts';
import { checkScript, findScripts, type ScriptRow } from './library-scripts.ts';

export interface FolderLibrary {
  folder: vscode.WorkspaceFolder;
  agents: readonly AgentRow[];
  problems: readonly AgentDiagnostic[];
  /** Why the agents could not be looked for. */
  error?: ErrorValue;
  /** Absent until they have been looked for. */
  scripts?: readonly ScriptRow[];
  /** Why they could not be. */
  scriptsError?: ErrorValue;
}

const DEBOUNCE_MS = 200;

/** What of a look is shown. */
function drawn({ folder, agents, problems, error }: FolderLibrary) {
  return { folder: folder.uri.toString(), name: folder.name, agents, problems, error };
}

export class LibraryModel implements vscode.Disposable {
  readonly #agents: AgentChecks;
  readonly #workflows: WorkflowChecks;
  readonly #log: vscode.LogOutputChannel;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[] = [];
  #folders: FolderLibrary[] = [];
  #ready: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #turn = 0;
  /** Fires after every change of what `folders` gives. */
  readonly onDidChange = this.#changed.event;

  constructor(agents: AgentChecks, workflows: WorkflowChecks, log: vscode.LogOutputChannel) {
    this.#agents = agents;
    this.#workflows = workflows;
    this.#log = log;
    this.#subscriptions.push(this.#changed);
  }

  get folders(): readonly FolderLibrary[] {
    return this.#folders;
  }

  /** Looks for agents when it is asked for the first time; scripts come later, by themselves. */
  ready(): Promise<void> {
    this.#ready ??= this.#begin();
    return this.#ready;
  }

  /**
   * Looks once more, soon: somebody comes to look, and the editor tells nothing of what was put into a folder that it had not
   * begun to follow yet. Before the first look there is nothing to do.
   */
  lookAgain(): void {
    if (!this.#ready) return;
    this.#agents.lookSoon();
    this.#findSoon();
  }

  /** The same for agents alone: they lie in few folders, and what has not changed is not read again. */
  lookForAgents(): void {
    if (this.#ready) this.#agents.lookSoon();
  }

  /** Looks for everything once more, whatever has been told of changes. */
  async refresh(): Promise<void> {
    await this.ready();
    await this.#lookNow();
    await this.#findScripts();
  }

  async #begin(): Promise<void> {
    this.#subscriptions.push(this.#agents.onDidLook((looked) => this.#take(looked)));
    this.#subscriptions.push(
      watchWorkflowFolders(() => this.#findSoon()),
      this.#watchScripts(),
      this.#workflows.onDidCheck((uri) => void this.#check([uri])),
      this.#agents.onDidChangeAgents(() => void this.#check()),
    );
    await this.#lookNow();
    void this.#findScripts();
  }

  /** Of several looks at once the last one tells what it has found. */
  async #lookNow(): Promise<void> {
    const told = new Promise<void>((resolve) => {
      const listening = this.#agents.onDidLook(() => {
        listening.dispose();
        resolve();
      });
    });
    await Promise.all([told, this.#agents.look()]);
  }

  #take(looked: readonly LookedAt[]): void {
    const before = this.#folders;
    this.#folders = looked.map(({ folder, found }) => {
      const { scripts, scriptsError } = this.#of(folder) ?? {};
      const known = { ...(scripts && { scripts }), ...(scriptsError && { scriptsError }) };
      return 'code' in found
        ? { folder, agents: [], problems: [], error: found, ...known }
        : { folder, agents: agentRows(found), problems: folderProblems(found), ...known };
    });
    // What was not read again is the same object, so this is quick.
    if (!isDeepStrictEqual(before.map(drawn), this.#folders.map(drawn))) this.#changed.fire();
    if (this.#folders.some(({ scripts, scriptsError }) => !scripts && !scriptsError)) this.#findSoon();
  }

  #of(folder: vscode.WorkspaceFolder): FolderLibrary | undefined {
    return this.#folders.find((one) => one.folder.uri.toString() === folder.uri.toString());
  }

  #findSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#findScripts(), DEBOUNCE_MS);
  }

  async #findScripts(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    const found = await Promise.all(this.#folders.map(({ folder }) => this.#scriptsOf(folder)));
    if (turn !== this.#turn) return;
    for (const { folder, ...scripts } of found) {
      const library = this.#of(folder);
      if (!library) continue;
      const { scripts: before = [], scriptsError: _, ...rest } = library;
      const known = new Map(before.map((row) => [row.path, row]));
      // What was said of a script stands until it has been checked once more.
      const rows = scripts.scripts?.map((row) => ({ ...known.get(row.path), ...row }));
      this.#folders[this.#folders.indexOf(library)] = { ...rest, ...scripts, ...(rows && { scripts: rows }) };
    }
    this.#changed.fire();
    await this.#check();
  }

  async #scriptsOf(folder: vscode.WorkspaceFolder) {
    try {
      return { folder, scripts: await findScripts(folder) };
    } catch (error) {
      this.#log.error(`Looking for workflows in ${folder.uri.fsPath} failed: ${error}`);
      return { folder, scriptsError: toErrorValue(error) };
    }
  }

  /** One after the other, so that a script somebody types in waits for one of them at most. */
  async #check(only?: readonly vscode.Uri[]): Promise<void> {
    const wanted = only && new Set(only.map((uri) => uri.toString()));
    const turn = this.#turn;
    for (const { folder, scripts = [] } of this.#folders) {
      for (const row of scripts) {
        if (wanted && !wanted.has(row.uri.toString())) continue;
        const checked = await checkScript(this.#workflows, row);
        if (turn !== this.#turn) return;
        this.#replace(folder, checked);
      }
    }
  }

  #replace(folder: vscode.WorkspaceFolder, checked: ScriptRow): void {
    const library = this.#of(folder);
    if (!library?.scripts?.some(({ path }) => path === checked.path)) return;
    const scripts = library.scripts.map((row) => (row.path === checked.path ? checked : row));
    this.#folders[this.#folders.indexOf(library)] = { ...library, scripts };
    this.#changed.fire();
  }

  /** Of a folder that comes or goes the editor tells the folder alone, so whatever may be one is looked after, too. */
  #watchScripts(): vscode.Disposable {
    const watcher = vscode.workspace.createFileSystemWatcher('**');
    const mayBeFolder = ({ path }: vscode.Uri) => !/\.[^/.]+$/.test(path.slice(path.lastIndexOf('/') + 1).slice(1));
    const isScript = ({ fsPath }: vscode.Uri) => isWorkflowPath(fsPath, absoluteFolders());
    const cameOrWent = (uri: vscode.Uri) => {
      if (isScript(uri) || mayBeFolder(uri)) this.#findSoon();
    };
    return vscode.Disposable.from(
      watcher,
      watcher.onDidCreate(cameOrWent),
      watcher.onDidDelete(cameOrWent),
      watcher.onDidChange((uri) => {
        if (isScript(uri)) void this.#check([uri]);
      }),
    );
  }

  dispose(): void {
    this.#turn += 1;
    clearTimeout(this.#timer);
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
