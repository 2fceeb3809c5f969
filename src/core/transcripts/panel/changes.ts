/** What became of items between two looks, as a page that holds some of them is told. */
import { isDeepStrictEqual } from 'node:util';
import type { PanelItem } from '../../../protocol/index.ts';

export interface Changes {
  changed: PanelItem[];
  grown: { key: string; text: string }[];
  removed: string[];
  added: PanelItem[];
}

export const noChanges = (): Changes => ({ changed: [], grown: [], removed: [], added: [] });

export function isEmpty({ changed, grown, removed, added }: Changes): boolean {
  return changed.length + grown.length + removed.length + added.length === 0;
}

/** Text that came at the end of a streamed body, when nothing else changed. */
function growthOf(before: PanelItem, after: PanelItem): string | undefined {
  if (before.kind !== 'text' && before.kind !== 'thinking') return undefined;
  if (after.kind !== before.kind || !before.streaming) return undefined;
  const [old, now] = [before.body, after.body];
  // Both begin at the same place of the whole.
  if (old.length - old.text.length !== now.length - now.text.length) return undefined;
  if (
    !isDeepStrictEqual(
      { ...before, body: { ...old, text: '', length: 0 } },
      { ...after, body: { ...now, text: '', length: 0 } },
    )
  )
    return undefined;
  return now.text.startsWith(old.text) ? now.text.slice(old.text.length) : undefined;
}

/** Adds the difference between the items of one group before and after to what is known already. */
export function addChanges(changes: Changes, before: readonly PanelItem[], after: readonly PanelItem[]): void {
  const known = new Map(before.map((item) => [item.key, item]));
  for (const item of after) {
    const old = known.get(item.key);
    known.delete(item.key);
    if (!old) changes.added.push(item);
    else if (!isDeepStrictEqual(old, item)) {
      const text = growthOf(old, item);
      if (text === undefined) changes.changed.push(item);
      else changes.grown.push({ key: item.key, text });
    }
  }
  changes.removed.push(...known.keys());
}
