/**
 * The runs this window shows: those of the projects its workspace folders belong to. Live runs are followed; of the others
 * the newest are read once, more on demand. Views only read this and are told which run changed.
 */
import * as vscode from 'vscode';
import { type RunSnapshot, RunStore, RunWatcher, type Toolbox } from '../../client/index.ts';
import { findProject } from '../../core/projects/index.ts';
import { type ErrorValue, isTerminal, toErrorValue } from '../../protocol/index.ts';
import type { ShownProject, ShownRun } from './runs-layout.ts';

const PAGE = 50;

interface WatchedProject extends ShownProject {
  store: RunStore;
  watcher: RunWatcher;
}

/** Why runs that belong here cannot be shown. */
export interface RunsProblem {
  /** `project`: it cannot be told which project a folder belongs to. `store`: its runs cannot be read. */
  kind: 'project' | 'store';
  /** The workspace folder or the project, as people call it. */
  title: string;
  error: ErrorValue;
}

/** `undefined`: the set of runs changed; otherwise the one run that changed. */
export type RunsChange = string | undefined;

export class RunsModel implements vscode.Disposable {
  readonly #toolbox: Toolbox;
  readonly #log: vscode.LogOutputChannel;
  readonly #projects = new Map<string, WatchedProject>();
  readonly #runs = new Map<string, ShownRun>();
  readonly #changed = new vscode.EventEmitter<RunsChange>();
  readonly #subscriptions: vscode.Disposable[] = [];
  #problems: RunsProblem[] = [];
  #wanted = PAGE;
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

  /** As `reload`; runs that have ended are read again as well, which nothing but a person asks for. */
  async refresh(): Promise<void> {
    this.#loading = this.#load({ endedToo: true });
    await this.#loading;
  }

  async showMore(): Promise<void> {
    this.#wanted += PAGE;
    await this.reload();
  }

  get(runId: string): RunSnapshot | undefined {
    return this.#runs.get(runId)?.snapshot;
  }

  projectTitle(runId: string): string | undefined {
    return this.#projects.get(this.#runs.get(runId)?.project ?? '')?.title;
  }

  all(): ShownRun[] {
    return [...this.#runs.values()];
  }

  /** Every run there is, newest first, also those that are not shown. Rejects with `run_unreadable` naming the folder. */
  async every(): Promise<{ runId: string; read: () => Promise<RunSnapshot> }[]> {
    await this.ready();
    const lists = await Promise.all(
      [...this.#projects.values()].map(async ({ store }) => {
        const ids = await store.runIds();
        return ids.map((runId) => ({ runId, read: async () => this.get(runId) ?? store.read(runId) }));
      }),
    );
    return lists.flat().sort((a, b) => (a.runId < b.runId ? 1 : -1));
  }

  /** In the order of the workspace folders. */
  projects(): ShownProject[] {
    return [...this.#projects.values()];
  }

  problems(): readonly RunsProblem[] {
    return this.#problems;
  }

  /** Newest first. */
  active(): RunSnapshot[] {
    return this.#sorted((snapshot) => !isTerminal(snapshot.state));
  }

  recent(): RunSnapshot[] {
    return this.#sorted((snapshot) => isTerminal(snapshot.state));
  }

  #sorted(keep: (snapshot: RunSnapshot) => boolean): RunSnapshot[] {
    const snapshots = this.all().map(({ snapshot }) => snapshot);
    return snapshots.filter(keep).sort((a, b) => (a.runId < b.runId ? 1 : -1));
  }

  /** A run this window just started: shown at once, without waiting for a file notice. */
  async noticeStarted(): Promise<void> {
    await this.#load();
    await Promise.all([...this.#projects.values()].map(({ watcher }) => watcher.refresh()));
  }

  async #load({ endedToo = false } = {}): Promise<void> {
    const problems = await this.#findProjects();
    if (this.#disposed) return;
    const lists = await Promise.all(
      [...this.#projects.values()].map((project) => this.#newest(project, problems, endedToo)),
    );
    const keep = new Set(lists.flat().map(({ snapshot }) => snapshot.runId));
    for (const [runId, { snapshot, project }] of this.#runs) {
      const gone = !this.#projects.has(project) || (!keep.has(runId) && isTerminal(snapshot.state));
      if (gone) this.#runs.delete(runId);
    }
    for (const run of lists.flat()) this.#runs.set(run.snapshot.runId, run);
    this.#problems = problems;
    await Promise.all([...this.#projects.values()].map(({ watcher }) => watcher.refresh()));
    this.#changed.fire(undefined);
  }

  async #newest(project: WatchedProject, problems: RunsProblem[], endedToo: boolean): Promise<ShownRun[]> {
    const { store, name, title } = project;
    try {
      const ids = await store.runIds();
      project.hasMore = ids.length > this.#wanted;
      const wanted = new Set([...ids.slice(0, this.#wanted), ...(await store.activeIds())]);
      const known = (runId: string) => {
        const snapshot = this.get(runId);
        return snapshot && isTerminal(snapshot.state) && !endedToo ? snapshot : undefined;
      };
      const existing = [...wanted].filter((runId) => ids.includes(runId));
      const snapshots = await Promise.all(existing.map((runId) => known(runId) ?? store.read(runId)));
      return snapshots.map((snapshot) => ({ snapshot, project: name }));
    } catch (error) {
      problems.push(this.#problem('store', title, error));
      return [];
    }
  }

  /** Returns the folders whose project cannot be told. */
  async #findProjects(): Promise<RunsProblem[]> {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
    const problems: RunsProblem[] = [];
    const found = new Map<string, { title: string; store: RunStore }>();
    for (const folder of folders) {
      try {
        const project = await findProject(this.#toolbox.agentDir, folder.uri.fsPath, folder.uri.fsPath);
        found.set(project.name, { title: project.title, store: new RunStore(project) });
      } catch (error) {
        problems.push(this.#problem('project', folder.name, error));
      }
    }
    if (this.#disposed) return problems;
    const before = new Map(this.#projects);
    this.#projects.clear();
    for (const [name, { title, store }] of found) {
      const watched = before.get(name);
      before.delete(name);
      const watcher = watched?.watcher ?? this.#watch(store, name);
      this.#projects.set(name, { name, title, store: watched?.store ?? store, watcher, hasMore: false });
    }
    for (const { watcher } of before.values()) watcher.dispose();
    return problems;
  }

  #watch(store: RunStore, project: string): RunWatcher {
    return new RunWatcher(store, (snapshot) => this.#take({ snapshot, project }), {
      onRemoved: (runIds) => this.#drop(project, runIds),
    });
  }

  /** Rows of runs that were removed go; where there are older ones that were not read yet, those move up. */
  #drop(project: string, runIds: readonly string[]): void {
    const shown = runIds.filter((runId) => this.#runs.delete(runId));
    if (this.#projects.get(project)?.hasMore) void this.reload();
    else if (shown.length > 0) this.#changed.fire(undefined);
  }

  #problem(kind: RunsProblem['kind'], title: string, error: unknown): RunsProblem {
    const value = toErrorValue(error);
    this.#log.error(`${title}: ${value.message}`);
    return { kind, title, error: value };
  }

  #take(run: ShownRun): void {
    const { snapshot } = run;
    const before = this.#runs.get(snapshot.runId);
    this.#runs.set(snapshot.runId, run);
    this.#changed.fire(before ? snapshot.runId : undefined);
  }

  dispose(): void {
    this.#disposed = true;
    for (const { watcher } of this.#projects.values()) watcher.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }
}
