/** Paints what was found over the text that is shown, without touching the document (CSS Custom Highlight API). */
const ALL = 'transcript-find';
const CURRENT = 'transcript-find-current';
/** More marks than these nobody can tell apart, and each costs. */
const MAX_MARKS = 2000;

export interface Mark {
  readonly query: string;
  readonly matchCase: boolean;
  /** Key of the item that is shown, and the so-manieth match in it. */
  readonly current: { readonly key: string; readonly occurrence: number } | null;
}

export function paintMarks(rows: readonly HTMLElement[], mark: Mark): void {
  const all: Range[] = [];
  let current: Range | undefined;
  for (const row of rows) {
    const ranges = rangesIn(row, mark.query, mark.matchCase, MAX_MARKS - all.length);
    all.push(...ranges);
    if (row.dataset['key'] === mark.current?.key) current = ranges[mark.current?.occurrence ?? 0] ?? ranges.at(-1);
  }
  CSS.highlights.set(ALL, new Highlight(...all));
  const shown = new Highlight(...(current ? [current] : []));
  shown.priority = 1;
  CSS.highlights.set(CURRENT, shown);
}

export function clearMarks(): void {
  CSS.highlights.delete(ALL);
  CSS.highlights.delete(CURRENT);
}

/** Matches in the text of a row, also across the elements that colours are made of. */
function rangesIn(row: HTMLElement, query: string, matchCase: boolean, max: number): Range[] {
  const nodes: { node: Node; start: number }[] = [];
  let text = '';
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push({ node, start: text.length });
    text += node.nodeValue ?? '';
  }
  const haystack = matchCase ? text : text.toLowerCase();
  const needle = matchCase ? query : query.toLowerCase();
  // Lower case can be longer than upper case; then positions would be wrong.
  if (needle === '' || haystack.length !== text.length) return [];
  const ranges: Range[] = [];
  let from = 0;
  for (let at = haystack.indexOf(needle); at >= 0 && ranges.length < max; at = haystack.indexOf(needle, at + 1)) {
    const range = document.createRange();
    from = nodeAt(nodes, at, from);
    const start = nodes[from];
    const end = nodes[nodeAt(nodes, at + needle.length - 1, from)];
    if (!start || !end) break;
    range.setStart(start.node, at - start.start);
    range.setEnd(end.node, at + needle.length - end.start);
    ranges.push(range);
  }
  return ranges;
}

function nodeAt(nodes: readonly { start: number }[], position: number, from: number): number {
  let index = from;
  while ((nodes[index + 1]?.start ?? Number.POSITIVE_INFINITY) <= position) index += 1;
  return index;
}
