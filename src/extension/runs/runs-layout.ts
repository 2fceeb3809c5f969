/** In which section of the Runs view each run stands. Pure: the view only draws what comes out of here. */
import type { RunSnapshot } from '../../client/index.ts';
import { isTerminal } from '../../protocol/index.ts';
import { type Day, dayOf } from './run-days.ts';
import { isFiltering, matchesFilter, type RunFilter } from './run-filter.ts';

export interface ShownRun {
  snapshot: RunSnapshot;
  /** Name of its project. */
  project: string;
}

export interface ShownProject {
  name: string;
  title: string;
  /** Older runs are on disk that were not read. */
  hasMore: boolean;
}

export type SectionKind = 'needs' | 'active' | 'day';

export interface Section {
  /** Stable, and unique in the view. */
  key: string;
  kind: SectionKind;
  day?: Day;
  /** Newest first. */
  runs: RunSnapshot[];
  /** The day whose runs are the newest of its project. */
  newest: boolean;
}

export interface ProjectSections {
  project: ShownProject;
  sections: Section[];
}

export interface RunsLayout {
  /** Runs that need a person, of all projects. */
  needs: Section | undefined;
  /** One per project, in the order of the workspace folders. */
  projects: ProjectSections[];
  filtering: boolean;
  shown: number;
  total: number;
}

export interface LayoutInput {
  runs: readonly ShownRun[];
  projects: readonly ShownProject[];
  filter: RunFilter;
  needsPerson: (snapshot: RunSnapshot) => boolean;
  now: number;
}

export function layoutRuns({ runs, projects, filter, needsPerson, now }: LayoutInput): RunsLayout {
  const titles = new Map(projects.map((project) => [project.name, project.title]));
  const matching = runs
    .filter(({ snapshot, project }) => matchesFilter(filter, snapshot, titles.get(project) ?? ''))
    .toSorted((a, b) => (a.snapshot.runId < b.snapshot.runId ? 1 : -1));
  const needs = matching.filter(({ snapshot }) => needsPerson(snapshot)).map(({ snapshot }) => snapshot);
  const others = matching.filter(({ snapshot }) => !needsPerson(snapshot));
  return {
    needs: needs.length === 0 ? undefined : { key: 'needs', kind: 'needs', runs: needs, newest: false },
    projects: projects.map((project) => {
      const own = others.filter((run) => run.project === project.name).map(({ snapshot }) => snapshot);
      return { project, sections: sectionsOf(own, project.name, now) };
    }),
    filtering: isFiltering(filter),
    shown: matching.length,
    total: runs.length,
  };
}

function sectionsOf(runs: readonly RunSnapshot[], project: string, now: number): Section[] {
  const active: RunSnapshot[] = [];
  const days = new Map<string, Section & { day: Day }>();
  for (const snapshot of runs) {
    if (isAlive(snapshot)) {
      active.push(snapshot);
      continue;
    }
    const day = dayOf(startOf(snapshot), now);
    const section = days.get(day.key);
    if (section) section.runs.push(snapshot);
    else {
      const key = `${project}/${day.key}`;
      days.set(day.key, { key, kind: 'day', day, runs: [snapshot], newest: days.size === 0 });
    }
  }
  const sections: Section[] = [...days.values()].sort((a, b) => (a.day.key < b.day.key ? 1 : -1));
  if (active.length > 0) sections.unshift({ key: `${project}/active`, kind: 'active', runs: active, newest: false });
  return sections;
}

/** A run of which nothing can be read is not counted as alive. */
function isAlive({ state, view }: RunSnapshot): boolean {
  return !isTerminal(state) && view !== null;
}

/** Milliseconds. A run id begins with the time at which it was made. */
function startOf({ view, runId }: RunSnapshot): number {
  return view?.createdAt ?? Number.parseInt(runId.replaceAll('-', '').slice(0, 12), 16);
}

/** Key of the section in which each run stands. */
export function sectionKeys(layout: RunsLayout): Map<string, string> {
  const keys = new Map<string, string>();
  for (const section of allSections(layout)) {
    for (const { runId } of section.runs) keys.set(runId, section.key);
  }
  return keys;
}

export function allSections({ needs, projects }: RunsLayout): Section[] {
  return [...(needs ? [needs] : []), ...projects.flatMap(({ sections }) => sections)];
}
