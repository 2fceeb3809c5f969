/** The Runs view. Of a run that changed only its row is asked for again; of one that moved, the two sections. */
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../../client/index.ts';
import { elapsedMs, type WorktreeView } from '../../../protocol/index.ts';
import { RUNS_VIEW } from '../../command-ids.ts';
import type { ActiveFilter } from '../../runs/active-filter.ts';
import { dayOf } from '../../runs/run-days.ts';
import { allSections, layoutRuns, type RunsLayout, sectionKeys } from '../../runs/runs-layout.ts';
import type { RunsChange, RunsModel } from '../../runs/runs-model.ts';
import type { SeenRuns } from '../../runs/seen-runs.ts';
import { createMoreItem, createProblemItem, createProjectItem } from './plain-items.ts';
import { Refreshes } from './refreshes.ts';
import { createRunItem, elapsedText, runMark } from './run-item.ts';
import { createRunTooltip } from './run-tooltip.ts';
import { createSectionItem } from './section-item.ts';
import { ViewState } from './view-state.ts';
import { type BranchNode, WorkflowBranches } from './workflow/workflow-branches.ts';
import { type WorktreeNode, WorktreeRows } from './worktrees/worktree-rows.ts';

export type RunsNode =
  | { kind: 'section'; key: string }
  | { kind: 'project'; name: string }
  | { kind: 'run'; runId: string }
  | { kind: 'more'; project: string }
  | { kind: 'problem'; index: number }
  | BranchNode
  | WorktreeNode;

const TICK_MS = 1000;
/** Of a run that has gone on for longer than this the time moves on with every fifth tick. */
const FRESH_MS = 10_000;
const SLOW_TICKS = 5;
/** Rows whose elapsed time moves on. */
const MAX_TICKING = 20;
/** With the row of a run that is open, all rows below it are asked for again: what it has cost is told in longer steps. */
const OPEN_RUN_TICKS = 10;

const EMPTY: RunsLayout = { needs: undefined, projects: [], filtering: false, shown: 0, total: 0 };

export class RunsTree implements vscode.TreeDataProvider<RunsNode>, vscode.Disposable {
  readonly #model: RunsModel;
  readonly #seen: SeenRuns;
  readonly #filter: ActiveFilter;
  readonly #changed = new vscode.EventEmitter<RunsNode | RunsNode[] | undefined>();
  readonly #disposables: vscode.Disposable[] = [];
  /** The view knows nodes by identity: one object for each. */
  readonly #nodes = new Map<string, RunsNode>();
  /** The elapsed time that stands in the row of each run that was drawn. */
  readonly #elapsed = new Map<string, string>();
  readonly #refreshes = new Refreshes<RunsNode>((nodes) => this.#changed.fire(nodes));
  readonly #state: ViewState;
  readonly #branches: WorkflowBranches;
  readonly #worktrees: WorktreeRows;
  /** How the rows of runs with open branches were drawn. */
  readonly #marks = new Map<string, string>();
  readonly view: vscode.TreeView<RunsNode>;
  readonly onDidChangeTreeData = this.#changed.event;
  #layout = EMPTY;
  #sectionOf = new Map<string, string>();
  #today = '';
  #ticks = 0;

  constructor(model: RunsModel, seen: SeenRuns, filter: ActiveFilter) {
    this.#model = model;
    this.#seen = seen;
    this.#filter = filter;
    this.view = vscode.window.createTreeView<RunsNode>(RUNS_VIEW, { treeDataProvider: this, showCollapseAll: true });
    this.#state = new ViewState(this.view);
    this.#branches = new WorkflowBranches(
      (runId) => model.get(runId),
      (key, make) => this.#node(`in ${key}`, make) as BranchNode,
    );
    this.#worktrees = new WorktreeRows(
      (runId) => model.get(runId),
      (key, make) => this.#node(`in ${key}`, make) as WorktreeNode,
    );
    this.#disposables.push(
      this.view,
      this.view.onDidCollapseElement(({ element }) => {
        if (element.kind === 'run') this.#branches.close(element.runId);
      }),
      this.#refreshes,
      this.#changed,
      model.onDidChange((change) => this.#update(change)),
      seen.onDidChange(() => this.#update(undefined)),
      filter.onDidChange(() => this.#update(undefined)),
    );
    const timer = setInterval(() => this.#tick(), TICK_MS);
    this.#disposables.push({ dispose: () => clearInterval(timer) });
  }

  /** Elapsed times move on by themselves, and days change; only while somebody looks. */
  #tick(): void {
    this.#ticks += 1;
    if (!this.view.visible) return;
    const now = Date.now();
    if (this.#today !== dayOf(now, now).key) {
      this.#update(undefined);
      return;
    }
    // A tick right after a change would only make the next change wait.
    if (!this.#refreshes.atRest) return;
    const ticking = this.#model.active().filter(isTicking).slice(0, MAX_TICKING);
    this.#refreshes.ask(ticking.flatMap((snapshot) => this.#moved(snapshot, now)).slice(0, MAX_TICKING));
  }

  /** Rows of a run in which the time has moved on. */
  #moved({ runId, view, state }: RunSnapshot, now: number): RunsNode[] {
    if (!view || (this.#ticks % SLOW_TICKS !== 0 && elapsedMs(view, state, now) >= FRESH_MS)) return [];
    if (this.#branches.isOpen(runId))
      return this.#ticks % OPEN_RUN_TICKS === 0 ? [this.#runNode(runId)] : this.#branches.ticking(runId);
    const drawn = this.#elapsed.get(runId);
    return drawn === undefined || drawn === elapsedText(view, state, now) ? [] : [this.#runNode(runId)];
  }

  /** What to draw of a run that stayed where it is. */
  #changedIn(runId: string): RunsNode[] {
    const change = this.#branches.change(runId);
    if (change === undefined || change === 'whole' || this.#marks.get(runId) !== this.#markOf(runId))
      return [this.#runNode(runId)];
    return change;
  }

  #update(change: RunsChange): void {
    const before = this.#layout;
    const keysBefore = this.#sectionOf;
    this.#lay();
    // First the rows: what stands around them would make them wait.
    this.#refreshes.ask(this.#nodesOf(change, before, keysBefore));
    this.#showState();
  }

  /** What has to be drawn again after a change; `undefined`: everything. */
  #nodesOf(change: RunsChange, before: RunsLayout, keysBefore: Map<string, string>): RunsNode[] | undefined {
    if (change === undefined || shapeOf(before) !== shapeOf(this.#layout)) return undefined;
    const from = keysBefore.get(change);
    const to = this.#sectionOf.get(change);
    if (from === to) return to === undefined ? [] : this.#changedIn(change);
    return [from, to].filter((key) => key !== undefined).map((key) => this.#sectionNode(key));
  }

  #lay(): void {
    const now = Date.now();
    const runs = this.#model.all();
    const { needsPerson } = this.#seen;
    this.#today = dayOf(now, now).key;
    this.#layout = layoutRuns({ runs, projects: this.#model.projects(), filter: this.#filter.value, needsPerson, now });
    this.#sectionOf = sectionKeys(this.#layout);
    for (const runId of this.#elapsed.keys()) if (!this.#sectionOf.has(runId)) this.#elapsed.delete(runId);
  }

  #showState(): void {
    const needed = this.#model.all().filter(({ snapshot }) => this.#seen.needsPerson(snapshot)).length;
    this.#state.show(this.#layout, this.#filter.value, this.#model.problems(), needed);
  }

  #node<N extends RunsNode>(key: string, make: () => N): RunsNode {
    const known = this.#nodes.get(key);
    if (known) return known;
    const node = make();
    this.#nodes.set(key, node);
    return node;
  }

  #runNode = (runId: string) => this.#node(`run ${runId}`, () => ({ kind: 'run', runId }));
  #sectionNode = (key: string) => this.#node(`section ${key}`, () => ({ kind: 'section', key }));
  #projectNode = (name: string) => this.#node(`project ${name}`, () => ({ kind: 'project', name }));

  async getChildren(parent?: RunsNode): Promise<RunsNode[]> {
    await this.#model.ready();
    if (!parent) return this.#roots();
    if (parent.kind === 'project') return this.#projectChildren(parent.name);
    if (parent.kind === 'run') return this.#runChildren(parent.runId);
    if (parent.kind === 'lane') return this.#branches.laneChildren(parent);
    if (isInBranch(parent)) return this.#worktrees.children(parent.runId, this.#branches.childOf(parent));
    const section = parent.kind === 'section' ? this.#section(parent.key) : undefined;
    return section?.runs.map(({ runId }) => this.#runNode(runId)) ?? [];
  }

  #runChildren(runId: string): RunsNode[] | Promise<RunsNode[]> {
    const view = this.#model.get(runId)?.view;
    // With the row of a single run the one below it is asked for again.
    if (view && !view.workflow) return this.#worktrees.children(runId, view.children[0]?.index);
    this.#marks.set(runId, this.#markOf(runId));
    return this.#branches.children(runId);
  }

  #roots(): RunsNode[] {
    const { needs, projects, shown, total } = this.#layout;
    // With nothing beside them, problems are told by the view's welcome.
    const problems = shown > 0 || total > 0 ? this.#model.problems() : [];
    const roots = problems.map((_, index) => this.#node(`problem ${index}`, () => ({ kind: 'problem', index })));
    if (needs) roots.push(this.#sectionNode(needs.key));
    const filled = projects.filter(({ sections }) => sections.length > 0);
    if (this.#isGrouped()) return [...roots, ...filled.map(({ project }) => this.#projectNode(project.name))];
    return [...roots, ...projects.flatMap(({ project }) => this.#projectChildren(project.name))];
  }

  #projectChildren(name: string): RunsNode[] {
    const found = this.#layout.projects.find(({ project }) => project.name === name);
    if (!found) return [];
    const sections = found.sections.map(({ key }) => this.#sectionNode(key));
    // Below nothing there is nothing older; a filter that hides all of them says so itself.
    if (!found.project.hasMore || sections.length === 0) return sections;
    return [...sections, this.#node(`more ${name}`, () => ({ kind: 'more', project: name }))];
  }

  #isGrouped(): boolean {
    return this.#layout.projects.length > 1;
  }

  #section(key: string) {
    return allSections(this.#layout).find((section) => section.key === key);
  }

  getParent(node: RunsNode): RunsNode | undefined {
    if (node.kind === 'run') {
      const key = this.#sectionOf.get(node.runId);
      return key === undefined ? undefined : this.#sectionNode(key);
    }
    if (node.kind === 'worktree') return this.#branches.ofChild(node.runId, node.child) ?? this.#runNode(node.runId);
    if (isInBranch(node)) return this.#branches.parent(node) ?? this.#runNode(node.runId);
    if (!this.#isGrouped() || node.kind === 'project' || node.kind === 'problem') return undefined;
    if (node.kind === 'more') return this.#projectNode(node.project);
    const owner = this.#layout.projects.find(({ sections }) => sections.some(({ key }) => key === node.key));
    return owner && this.#projectNode(owner.project.name);
  }

  getTreeItem(node: RunsNode): vscode.TreeItem {
    switch (node.kind) {
      case 'project': {
        const found = this.#layout.projects.find(({ project }) => project.name === node.name);
        return createProjectItem(found?.project.title ?? node.name, `project ${node.name}`);
      }
      case 'section': {
        const section = this.#section(node.key);
        const { filtering } = this.#layout;
        // The view remembers what is open by id: with a filter everything is, and without it what was before.
        const id = filtering ? `filtered ${node.key}` : node.key;
        return section ? createSectionItem(section, { id, open: filtering }) : new vscode.TreeItem('');
      }
      case 'problem': {
        const problem = this.#model.problems()[node.index];
        return problem ? createProblemItem(problem, `problem ${node.index}`) : new vscode.TreeItem('');
      }
      case 'more':
        return createMoreItem(`more ${node.project}`);
      case 'run':
        return this.#runItem(node.runId);
      case 'worktree':
        return this.#worktrees.item(node) ?? new vscode.TreeItem('');
      default:
        return this.#branches.item(node) ?? new vscode.TreeItem('');
    }
  }

  #runItem(runId: string): vscode.TreeItem {
    const snapshot = this.#model.get(runId);
    if (!snapshot) return new vscode.TreeItem(runId);
    const now = Date.now();
    if (snapshot.view) this.#elapsed.set(runId, elapsedText(snapshot.view, snapshot.state, now));
    if (this.#branches.isOpen(runId)) this.#marks.set(runId, this.#markOf(runId));
    return createRunItem(snapshot, { ...this.#contextOf(snapshot), now });
  }

  #contextOf(snapshot: RunSnapshot) {
    const { runId } = snapshot;
    const mixed = this.#isGrouped() && this.#sectionOf.get(runId) === this.#layout.needs?.key;
    return {
      needsPerson: this.#seen.needsPerson(snapshot),
      project: mixed ? this.#model.projectTitle(runId) : undefined,
    };
  }

  #markOf(runId: string): string {
    const snapshot = this.#model.get(runId);
    return snapshot ? runMark(snapshot, this.#contextOf(snapshot)) : '';
  }

  resolveTreeItem(item: vscode.TreeItem, node: RunsNode): vscode.TreeItem {
    const tooltip = isInBranch(node) ? this.#branches.tooltip(node) : undefined;
    if (tooltip) item.tooltip = tooltip;
    const ofWorktree = node.kind === 'worktree' ? this.#worktrees.tooltip(node) : undefined;
    if (ofWorktree) item.tooltip = ofWorktree;
    const snapshot = node.kind === 'run' ? this.#model.get(node.runId) : undefined;
    if (snapshot) item.tooltip = createRunTooltip(snapshot, this.#model.projectTitle(snapshot.runId), Date.now());
    return item;
  }

  /** Selects a run's row, if the view is open and shows it. */
  async reveal(runId: string): Promise<void> {
    if (this.view.visible && this.#sectionOf.has(runId))
      await this.view.reveal(this.#runNode(runId), { select: true, focus: false });
  }

  /** The run an action is meant for: the row it came from, else the selected row. */
  runIdOf(node: unknown): string | undefined {
    const given = typeof node === 'object' && node !== null && 'runId' in node ? node.runId : undefined;
    if (typeof given === 'string') return given;
    const selected = this.view.selection[0];
    return selected && 'runId' in selected ? selected.runId : undefined;
  }

  /** Number of the child an action is meant for; `undefined`: for a run as a whole. */
  childOf(node: unknown): number | undefined {
    if (node === undefined) {
      const selected = this.view.selection[0];
      return selected && isInBranch(selected) ? this.#branches.childOf(selected) : undefined;
    }
    if (typeof node !== 'object' || node === null) return undefined;
    if (isStage(node)) return this.#branches.childOf(node);
    return 'child' in node && typeof node.child === 'number' ? node.child : undefined;
  }

  /** The worktree an action is meant for: that of the row it came from, else of the selected row. */
  worktreeOf(node: unknown): WorktreeView | undefined {
    const meant = node === undefined ? this.view.selection[0] : node;
    return typeof meant === 'object' && meant !== null && isWorktree(meant) ? this.#worktrees.find(meant) : undefined;
  }

  /** The script's call of the command an action is meant for. */
  hostOf(node: unknown): number | undefined {
    const meant = node === undefined ? this.view.selection[0] : node;
    return typeof meant === 'object' && meant !== null && isHost(meant) ? meant.host : undefined;
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

/** Of a workflow some go on while others wait for a person. */
function isTicking({ state, view }: RunSnapshot): boolean {
  return state === 'running' || state === 'queued' || (state === 'waiting' && view?.workflow !== undefined);
}

const BRANCH: ReadonlySet<RunsNode['kind']> = new Set(['lane', 'stage', 'child', 'launch', 'host'] as const);

function isInBranch(node: RunsNode): node is BranchNode {
  return BRANCH.has(node.kind);
}

/** Our own node of a stage, as an action gets it. */
function isStage(node: object): node is Extract<BranchNode, { kind: 'stage' }> {
  return 'kind' in node && node.kind === 'stage' && 'key' in node;
}

function isWorktree(node: object): node is WorktreeNode {
  return 'kind' in node && node.kind === 'worktree' && 'child' in node;
}

function isHost(node: object): node is Extract<BranchNode, { kind: 'host' }> {
  return 'kind' in node && node.kind === 'host' && 'host' in node;
}

/** Which sections there are, and in what order. */
function shapeOf(layout: RunsLayout): string {
  return allSections(layout)
    .map(({ key }) => key)
    .join('\n');
}
