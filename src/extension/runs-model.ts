/**
 * The runs this window shows: those of the projects its workspace folders belong to. Live runs are followed; of the others
 * the newest are read once, more on demand. Views only read this and are told which run changed.
 */
import * as vscode from 'vscode';
import { type RunSnapshot, RunStore, RunWatcher, type Toolbox } from '../client/index.ts';
import { findProject } from '../core/projects/index.ts';
import { isTerminal } from '../protocol/index.ts';

const PAGE = 50;

interface WatchedProject {
  title: string;
  store: RunStore;
  watcher: RunWatcher;
}

/** `undefined`: the set of runs changed; otherwise the one run that changed. */
export type RunsChange = string | undefined;

export class RunsModel implements vscode.Disposable {
  readonly #toolbox: Toolbox;
  readonly #log: vscode.LogOutputChannel;
  readonly #projects = new Map<string, WatchedProject>();
  readonly #snapshots = new Map<string, RunSnapshot>();
  readonly #changed = new vscode.EventEmitter<RunsChange>();
  readonly #subscriptions: vscode.Disposable[] = [];
  #wanted = PAGE;
  #hasMore = false;
  #loading: Promise<void> | undefined;
  #disposed = false;
  readonly onDidChange = this.#changed.event;

  constructor(toolbox: Toolbox, log: vscode.LogOutputChannel) {
    this.#toolbox = toolbox;
    this.#log = log;
    this.#subscriptions.push(vscode.workspace.onDidChangeWorkspaceFolders(() => void this.reload()));
  }

  /** Resolves when the projects are known and the newest runs are read. Reads at first use. */
  ready(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Looks at the workspace folders and the disk again. */
  async reload(): Promise<void> {
    this.#loading = this.#load();
    await this.#loading;
  }

  get hasMore(): boolean {
    return this.#hasMore;
  }

  async showMore(): Promise<void> {
    this.#wanted += PAGE;
    await this.reload();
  }

  get(runId: string): RunSnapshot | undefined {
    return this.#snapshots.get(runId);
  }

  /** Newest first. */
  active(): RunSnapshot[] {
    return this.#sorted((snapshot) => !isTerminal(snapshot.state));
  }

  recent(): RunSnapshot[] {
    return this.#sorted((snapshot) => isTerminal(snapshot.state));
  }

  #sorted(keep: (snapshot: RunSnapshot) => boolean): RunSnapshot[] {
    return [...this.#snapshots.values()].filter(keep).sort((a, b) => (a.runId < b.runId ? 1 : -1));
  }

  /** A run this window just started: shown at once, without waiting for a file notice. */
  async noticeStarted(): Promise<void> {
    await this.#load();
    await Promise.all([...this.#projects.values()].map(({ watcher }) => watcher.refresh()));
  }

  async #load(): Promise<void> {
    await this.#findProjects();
    if (this.#disposed) return;
    const lists = await Promise.all([...this.#projects.values()].map(({ store }) => this.#newest(store)));
    const keep = new Set(lists.flat().map((snapshot) => snapshot.runId));
    for (const [runId, snapshot] of this.#snapshots) {
      if (!keep.has(runId) && isTerminal(snapshot.state)) this.#snapshots.delete(runId);
    }
    for (const snapshot of lists.flat()) this.#snapshots.set(snapshot.runId, snapshot);
    await Promise.all([...this.#projects.values()].map(({ watcher }) => watcher.refresh()));
    this.#changed.fire(undefined);
  }

  async #newest(store: RunStore): Promise<RunSnapshot[]> {
    try {
      const ids = await store.runIds();
      this.#hasMore = ids.length > this.#wanted;
      const wanted = new Set([...ids.slice(0, this.#wanted), ...(await store.activeIds())]);
      const known = (runId: string) => {
        const snapshot = this.#snapshots.get(runId);
        return snapshot && isTerminal(snapshot.state) ? snapshot : undefined;
      };
      const existing = [...wanted].filter((runId) => ids.includes(runId));
      return await Promise.all(existing.map((runId) => known(runId) ?? store.read(runId)));
    } catch (error) {
      this.#log.error(`Runs cannot be listed: ${error instanceof Error ? error.message : error}`);
      return [];
    }
  }

  async #findProjects(): Promise<void> {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
    const found = new Map<string, { title: string; store: RunStore }>();
    for (const folder of folders) {
      try {
        const project = await findProject(this.#toolbox.agentDir, folder.uri.fsPath, folder.uri.fsPath);
        found.set(project.name, { title: project.title, store: new RunStore(project) });
      } catch (error) {
        this.#log.warn(`${folder.uri.fsPath}: ${error instanceof Error ? error.message : error}`);
      }
    }
    for (const [name, { watcher }] of this.#projects) {
      if (found.has(name)) continue;
      watcher.dispose();
      this.#projects.delete(name);
    }
    if (this.#disposed) return;
    for (const [name, { title, store }] of found) {
      if (!this.#projects.has(name)) {
        this.#projects.set(name, { title, store, watcher: new RunWatcher(store, (snapshot) => this.#take(snapshot)) });
      }
    }
  }

  #take(snapshot: RunSnapshot): void {
    const before = this.#snapshots.get(snapshot.runId);
    this.#snapshots.set(snapshot.runId, snapshot);
    const moved = !before || isTerminal(before.state) !== isTerminal(snapshot.state);
    this.#changed.fire(moved ? undefined : snapshot.runId);
  }

  dispose(): void {
    this.#disposed = true;
    for (const { watcher } of this.#projects.values()) watcher.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }
}
