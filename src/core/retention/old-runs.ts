/** One pass over the runs of a store that may be too old: each is kept for a reason, or removed. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RUN_ID, toErrorValue } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';
import { type ProjectLayout, projectLayout, type RootLayout } from '../projects/index.ts';
import { runIdTime, unreadable } from '../runs/index.ts';
import { mapBounded } from './bounded.ts';
import type { Kept } from './keep-reason.ts';
import { isTooYoung, type RetentionRule, recent, whyKept } from './own-verdict.ts';
import { readRunFacts } from './run-facts.ts';
import { RunLinks } from './run-links.ts';
import { type Recheck, removeRun } from './tombstone.ts';

/** A run and what became of it. */
export interface Judged {
  project: string;
  runId: string;
  kept: Kept | undefined;
  /** Why it could not be removed although it should. */
  failed?: string;
}

export interface Candidate {
  project: string;
  runId: string;
}

export const keyOf = ({ project, runId }: Candidate) => `${project}/${runId}`;

/**
 * Runs of the store: those to look at closely, in the order in which they are, and those that are too young. A project whose
 * runs cannot be listed is named among the problems.
 */
export async function findCandidates(
  root: RootLayout,
  rule: RetentionRule,
): Promise<{ projects: string[]; old: Candidate[]; young: Candidate[]; problems: string[] }> {
  const projects = (await namesIn(root.projects)).sort();
  const problems: string[] = [];
  const old: Candidate[] = [];
  const young: Candidate[] = [];
  for (const project of projects) {
    const { runs } = projectLayout(join(root.projects, project));
    // Newest first: what goes on in the session of another comes before it.
    const names = await namesIn(runs).catch((error: unknown) => {
      problems.push(toErrorValue(error).message);
      return [];
    });
    const ids = names.filter((name) => RUN_ID.test(name)).sort();
    for (const runId of ids.reverse()) (isTooYoung(runId, rule) ? young : old).push({ project, runId });
  }
  return { projects, old, young, problems };
}

export function judgeYoung(candidate: Candidate, rule: RetentionRule): Judged {
  const isOfFuture = runIdTime(candidate.runId) > rule.now;
  const kept: Kept = isOfFuture ? { reason: 'unknown-age', detail: 'it is dated in the future' } : recent(rule);
  return { ...candidate, kept };
}

/** Whether a cleaner may change anything: `only-looks` at what it would remove, or has `lost` its lock to another. */
export type Permission = 'granted' | 'only-looks' | 'lost';

/** Judges and removes runs of one project. */
export class OldRuns {
  readonly #name: string;
  readonly #project: ProjectLayout;
  readonly #root: RootLayout;
  readonly #rule: RetentionRule;
  readonly #links: RunLinks;
  readonly #spent: ReadonlySet<string>;
  #active = new Set<string>();

  /** @param spent paths of markers of live runs that mark none any more */
  constructor(root: RootLayout, name: string, rule: RetentionRule, spent: ReadonlySet<string> = new Set()) {
    this.#spent = spent;
    this.#root = root;
    this.#name = name;
    this.#project = projectLayout(join(root.projects, name));
    this.#rule = rule;
    this.#links = new RunLinks(this.#project);
  }

  /**
   * @param ids newest first
   * @param permission asked for before each removal
   */
  async pass(ids: readonly string[], permission: () => Promise<Permission>): Promise<Judged[]> {
    const own = await mapBounded(ids, async (runId) => ({ runId, kept: await this.#judgeAlone(runId) }));
    const judged: Judged[] = [];
    // Who refers to a run that would not go anyway is of no interest, and costs a look at every other run.
    if (own.some(({ kept }) => kept === undefined)) await this.#lookAround();
    const gone = new Set<string>();
    for (const { runId, kept } of own) {
      const verdict = kept ?? (await this.#judgeAmongOthers(runId, gone));
      const one: Judged = { project: this.#name, runId, kept: verdict };
      if (!verdict) {
        const given = await permission();
        if (given === 'granted') Object.assign(one, await this.#remove(runId));
        if (given === 'lost') one.failed = 'another cleaner has taken over';
        if (!one.kept && one.failed === undefined) gone.add(runId);
      }
      judged.push(one);
    }
    return judged;
  }

  /** What a run is kept for that was put out of sight. */
  readonly recheck: Recheck = async (runId, directory) => {
    const alone = await this.#judgeAlone(runId, directory);
    if (alone) return alone;
    await this.#lookAround();
    return this.#judgeAmongOthers(runId, new Set());
  };

  async #judgeAlone(runId: string, directory?: string): Promise<Kept | undefined> {
    const { sessionLocks } = this.#root;
    const place = { project: this.#project, runId, sessionLocks, ...(directory === undefined ? {} : { directory }) };
    const read = await readRunFacts(place);
    if (!read.ok) return read.kept;
    const isMarked = read.facts.isMarked && !this.#spent.has(join(this.#project.active, runId));
    return whyKept({ ...read.facts, isMarked }, this.#rule);
  }

  async #lookAround(): Promise<void> {
    this.#active = new Set(await namesIn(this.#project.active));
    await this.#links.refresh();
  }

  /** @param gone runs that count as removed */
  async #judgeAmongOthers(runId: string, gone: ReadonlySet<string>): Promise<Kept | undefined> {
    const needer = this.#links.neederOf(runId, (other) => this.#active.has(other), gone);
    if (needer) {
      const reason = {
        session: 'resume-reference',
        parent: 'nested-reference',
        workflow: 'workflow-reference',
      } as const;
      return { reason: reason[needer.needs], detail: needer.runId };
    }
    const parent = this.#links.parentOf(runId);
    if (parent === null || gone.has(parent) || !this.#links.has(parent)) return undefined;
    // A whole that stays, stays whole.
    if (!(await this.#judgeParent(parent))) return undefined;
    return { reason: this.#links.isWorkflowStep(runId) ? 'workflow-reference' : 'nested-reference', detail: parent };
  }

  async #judgeParent(parent: string): Promise<Kept | undefined> {
    return isTooYoung(parent, this.#rule) ? recent(this.#rule) : this.#judgeAlone(parent);
  }

  async #remove(runId: string): Promise<Partial<Judged>> {
    const removal = await removeRun(this.#project.runs, runId, this.recheck, this.#rule.now);
    if (removal.outcome === 'failed') return { failed: removal.reason };
    return removal.outcome === 'kept' ? { kept: removal.kept } : {};
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return [];
    throw unreadable(folder, error);
  }
}
