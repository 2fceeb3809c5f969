/** Which rows the Library has, and what stands in which. Pure. */
import { AGENT_GROUPS, type AgentGroup } from '../../library/library-layout.ts';
import type { FolderLibrary } from '../../library/library-model.ts';
import { countOf } from '../../library/library-scripts.ts';
import type { GroupFacts, LibraryNode } from './library-node.ts';

export interface Branch {
  node: LibraryNode;
  children: readonly Branch[];
}

export interface Surroundings {
  /** Whether the workspace is trusted. */
  isTrusted: boolean;
  /** Looked for and not found. */
  piMissing: boolean;
}

/** @returns the rows of the first level, with everything in them */
export function layoutTree(folders: readonly FolderLibrary[], surroundings: Surroundings): Branch[] {
  const [first] = folders;
  if (!first) return [];
  const notes = notesOf(first, surroundings);
  if (folders.length === 1) return [...notes, ...partsOf(first, surroundings)];
  const projects = folders.map(
    (library): Branch => ({
      node: { kind: 'project', folder: library.folder },
      children: partsOf(library, surroundings),
    }),
  );
  return [...notes, ...projects];
}

const leaf = (node: LibraryNode): Branch => ({ node, children: [] });

function notesOf({ folder }: FolderLibrary, { isTrusted, piMissing }: Surroundings): Branch[] {
  if (!isTrusted) return [leaf({ kind: 'note', note: 'untrusted', folder })];
  return piMissing ? [leaf({ kind: 'note', note: 'no-pi', folder })] : [];
}

function partsOf(library: FolderLibrary, { isTrusted }: Surroundings): Branch[] {
  const { folder, agents, problems, error } = library;
  const scripts = groupOf(library, 'scripts', scriptRows(library));
  if (error) return [leaf({ kind: 'failure', of: 'agents', folder, error }), scripts];
  const faults = problems.map((problem) => leaf({ kind: 'problem', folder, problem }));
  const isShown = (group: AgentGroup) =>
    agents.some((row) => row.group === group) || group === 'user' || (group === 'project' && isTrusted);
  const groups = AGENT_GROUPS.filter(isShown).map((group) => groupOf(library, group, agentNodes(library, group)));
  return [...faults, ...groups, scripts];
}

function groupOf(library: FolderLibrary, group: AgentGroup | 'scripts', nodes: LibraryNode[]): Branch {
  const { folder } = library;
  return { node: { kind: 'group', folder, group, facts: factsOf(library, group) }, children: nodes.map(leaf) };
}

function agentNodes({ folder, agents }: FolderLibrary, group: AgentGroup): LibraryNode[] {
  const rows = agents.filter((row) => row.group === group);
  if (rows.length === 0) return [{ kind: 'note', note: 'no-agents', group, folder }];
  return rows.map((row): LibraryNode => ({ kind: 'agent', folder, row }));
}

function scriptRows({ folder, scripts, scriptsError }: FolderLibrary): LibraryNode[] {
  if (scriptsError) return [{ kind: 'failure', of: 'scripts', folder, error: scriptsError }];
  if (!scripts) return [{ kind: 'note', note: 'looking', folder }];
  if (scripts.length === 0) return [{ kind: 'note', note: 'no-scripts', folder }];
  return scripts.map((row): LibraryNode => ({ kind: 'script', folder, row }));
}

/** What came along is closed where there is something of one's own. */
function factsOf({ agents, scripts }: FolderLibrary, group: AgentGroup | 'scripts'): GroupFacts {
  if (group === 'scripts') {
    const broken = (scripts ?? []).filter(({ findings = [] }) => countOf(findings, 'error') > 0).length;
    return { group, count: scripts?.length, broken, open: true };
  }
  const rows = agents.filter((row) => row.group === group);
  const isOwn = group === 'project' || group === 'user';
  return {
    group,
    count: rows.length,
    broken: rows.filter(({ state }) => state.kind === 'refused').length,
    open: isOwn || !agents.some((row) => row.group === 'project' || row.group === 'user'),
  };
}
