/** A project whose runs have had worktrees: repository, ledger, runs that have ended, and what they hand over. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CliContext } from '../../src/cli/context.ts';
import { RunStore, Toolbox } from '../../src/client/index.ts';
import { folderLock, RepositoryLock } from '../../src/core/git/index.ts';
import { childLayout, findProject, type Project, runLayout } from '../../src/core/projects/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import {
  allocateWorktrees,
  captureWorktree,
  checkSources,
  type KeptCapture,
  Ledger,
  makeHandoff,
  withLedger,
  writeHandoff,
} from '../../src/core/worktrees/index.ts';
import type { TerminalState, WorktreeRecord } from '../../src/protocol/index.ts';
import { ended, writeRun } from '../unit/builders/run.ts';
import type { Files } from './repository.ts';
import { Bench } from './worktrees.ts';

export class WorktreeProject {
  readonly bench: Bench;
  readonly project: Project;
  readonly toolbox: Toolbox;
  readonly store: RunStore;
  readonly ledger: Ledger;
  readonly lock: RepositoryLock;
  /** What the command line has said. */
  readonly out: string[] = [];
  readonly err: string[] = [];

  private constructor(bench: Bench, project: Project, toolbox: Toolbox) {
    this.bench = bench;
    this.project = project;
    this.toolbox = toolbox;
    this.store = new RunStore(project);
    this.ledger = new Ledger(project.layout.worktrees);
    this.lock = new RepositoryLock(folderLock(toolbox.root.repositories, project.key));
  }

  /** @param folder of all of it */
  static async make(folder: string, files?: Files): Promise<WorktreeProject> {
    await mkdir(join(folder, 'store'), { recursive: true });
    const bench = await Bench.make(join(folder, 'repo'), join(folder, 'store'), files);
    const env = { ...process.env, PI_CODING_AGENT_DIR: join(folder, 'agent') };
    const toolbox = new Toolbox({ env, distDirectory: join(folder, 'dist'), client: { kind: 'test', version: '0' } });
    return new WorktreeProject(bench, await findProject(toolbox.agentDir, bench.path), toolbox);
  }

  get context(): CliContext {
    return {
      toolbox: this.toolbox,
      cwd: this.bench.path,
      owner: { kind: 'cli', id: 'me' },
      out: (text) => this.out.push(text),
      err: (text) => this.err.push(text),
    };
  }

  /** A worktree of a run that begins with it. */
  async make(label = 'fix', runId: string = newRunId(), child = 1): Promise<WorktreeRecord> {
    const { git, path, journal } = this.bench;
    const [source] = await checkSources(git, [{ key: label, cwd: path }]);
    if (!source) throw new Error('no source');
    const allocator = { git, lock: this.lock, journal: withLedger(journal, this.ledger) };
    const [record] = await allocateWorktrees(allocator, [{ source, runId, child, label }]);
    if (!record) throw new Error('no worktree');
    return record;
  }

  /** Keeps what is in it as its runner does, and ends its run. */
  async finish(record: WorktreeRecord, state: TerminalState = 'complete'): Promise<KeptCapture> {
    const { runId, child } = record;
    await writeRun(this.project.layout.directory, {
      record: { runId, cwd: this.bench.path },
      events: [ended(state)],
      at: Date.now(),
    });
    return this.keep(record, child);
  }

  /** Keeps it once more, with what is handed over. */
  async keep(record: WorktreeRecord, child = record.child): Promise<KeptCapture> {
    const directory = join(this.project.layout.runs, record.runId);
    const folder = childLayout(directory, child).worktree;
    const kept = await captureWorktree(folder, record, { git: this.bench.git, lock: this.lock });
    await this.ledger.captured(record, kept.folder);
    const run = { runId: record.runId, mode: 'single', cwd: this.bench.path } as const;
    const about = { capture: kept.capture, folder: kept.folder.slice(directory.length + 1) };
    const manifest = makeHandoff(run, [{ plan: record, agent: 'worker', status: 'complete', kept: about }], 1);
    await writeHandoff(runLayout(directory).handoff, manifest);
    return kept;
  }
}
