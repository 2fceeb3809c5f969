/** Which runs a person wants to see. */
import type { RunSnapshot } from '../../client/index.ts';
import type { RunState } from '../../protocol/index.ts';

export interface RunFilter {
  /** Words; a run must have every one of them somewhere. */
  text: string;
  /** Empty: all. */
  states: readonly RunState[];
}

export const NO_FILTER: RunFilter = { text: '', states: [] };

export function isFiltering(filter: RunFilter): boolean {
  return filter.text.trim() !== '' || filter.states.length > 0;
}

export function matchesFilter(filter: RunFilter, snapshot: RunSnapshot, projectTitle: string): boolean {
  if (filter.states.length > 0 && !filter.states.includes(snapshot.state)) return false;
  const words = fold(filter.text).split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const { view, runId } = snapshot;
  const fields = [view?.title, view?.label, view?.agent, view?.model, view?.cwd, runId, snapshot.state, projectTitle];
  const haystack = fold(fields.filter(Boolean).join('\n'));
  return words.every((word) => haystack.includes(word));
}

/** Case and accents do not count. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
}
