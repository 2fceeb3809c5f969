/** What runs of one project need of each other: the session another one goes on in, and the run they belong to. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { launchRecord } from '../../protocol/index.ts';
import { errnoOf, readRegular } from '../files/index.ts';
import { type ProjectLayout, runLayout } from '../projects/index.ts';
import { unreadable } from '../runs/index.ts';
import { mapBounded } from './bounded.ts';

/** What one run says about others. */
export interface RunLink {
  /** Runs whose session it goes on in. */
  sessionsOf: string[];
  /** Runs it copied its session from; needed until it has ended. */
  copiesFrom: string[];
  /** The run it belongs to. */
  parent: string | null;
  isWorkflowStep: boolean;
  /** It is of a kind that is not known here: everything it names is needed. */
  names: string[];
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;
const RUN_FOLDER = new RegExp(`^(${ID.source})$`);
/** One that is being created, or that was put out of sight and may come back. */
const HIDDEN = new RegExp(`^\\.(${ID.source})\\.(?:new|\\d+\\.gone)$`);
const IN_RUNS = new RegExp(`[\\\\/]runs[\\\\/](${ID.source})[\\\\/]`, 'g');

export class RunLinks {
  readonly #project: ProjectLayout;
  readonly #links = new Map<string, RunLink>();

  constructor(project: ProjectLayout) {
    this.#project = project;
  }

  /** Takes in runs that came since the last call, and lets go of those that are gone. Throws when they cannot be listed or read. */
  async refresh(): Promise<void> {
    const found = new Map<string, string>();
    for (const name of (await readdir(this.#project.runs)).sort()) {
      const runId = RUN_FOLDER.exec(name)?.[1] ?? HIDDEN.exec(name)?.[1];
      if (runId !== undefined) found.set(runId, join(this.#project.runs, name));
    }
    for (const runId of this.#links.keys()) if (!found.has(runId)) this.#links.delete(runId);
    const fresh = [...found].filter(([runId]) => !this.#links.has(runId));
    const links = await mapBounded(fresh, async ([runId, directory]) => ({ runId, link: await readLink(directory) }));
    // Whoever is asked twice names the same run: they stand in the order of their names, not of the disk's answers.
    for (const { runId, link } of links) if (link) this.#links.set(runId, link);
  }

  has(runId: string): boolean {
    return this.#links.has(runId);
  }

  parentOf(runId: string): string | null {
    return this.#links.get(runId)?.parent ?? null;
  }

  isWorkflowStep(runId: string): boolean {
    return this.#links.get(runId)?.isWorkflowStep ?? false;
  }

  /**
   * A run that needs this one, and what for.
   * @param isLive whether a run may still be at work
   * @param gone runs that count as removed
   */
  neederOf(
    runId: string,
    isLive: (runId: string) => boolean,
    gone: ReadonlySet<string>,
  ): { runId: string; needs: 'session' | 'parent' | 'workflow' } | undefined {
    for (const [other, link] of this.#links) {
      if (other === runId || gone.has(other)) continue;
      if (link.sessionsOf.includes(runId) || link.names.includes(runId)) return { runId: other, needs: 'session' };
      if (link.copiesFrom.includes(runId) && isLive(other)) return { runId: other, needs: 'session' };
      if (link.parent === runId) return { runId: other, needs: link.isWorkflowStep ? 'workflow' : 'parent' };
    }
    return undefined;
  }
}

/** `undefined`: there is no record (any more). */
async function readLink(directory: string): Promise<RunLink | undefined> {
  let text: string;
  try {
    text = await readRegular(runLayout(directory).record);
  } catch (error) {
    // A folder in its place names nobody.
    if (['ENOENT', 'ENOTDIR', 'EFTYPE'].includes(errnoOf(error) ?? '')) return undefined;
    throw unreadable(runLayout(directory).record, error);
  }
  const none: RunLink = { sessionsOf: [], copiesFrom: [], parent: null, isWorkflowStep: false, names: [] };
  const parsed = launchRecord.safeParse(parseJson(text));
  if (!parsed.success) return { ...none, names: text.match(ID) ?? [] };
  const { resume, parent, workflowKey } = parsed.data;
  // The session may lie in the folder of a run before the one that was resumed.
  const sources = resume ? [resume.sourceRunId, ...runsIn(resume.session)] : [];
  return {
    ...none,
    ...(resume?.how === 'continue' ? { sessionsOf: sources } : { copiesFrom: sources }),
    parent: parent?.runId ?? null,
    isWorkflowStep: workflowKey !== null,
  };
}

const runsIn = (path: string) => [...path.matchAll(IN_RUNS)].map((match) => match[1] ?? '');

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
