/** The name that was probably meant, for the hint of a refusal. */

/** The candidate with the fewest edits, when it is near enough to be what was meant. */
export function nearestModel(wanted: string, names: readonly string[]): string | undefined {
  const idOf = (name: string) => name.slice(name.indexOf('/') + 1);
  const bare = (name: string) => idOf(name).replace(DATE_SUFFIX, '');
  // An id can hold a slash itself: what is wanted may lack its provider although it has one.
  const score = (name: string) =>
    Math.min(distance(wanted, name), distance(wanted, idOf(name)), distance(bare(wanted), bare(name)) + 1);
  const best = names.map((name) => ({ name, score: score(name) })).sort((a, b) => a.score - b.score)[0];
  return best && best.score <= Math.max(3, bare(wanted).length / 2) ? best.name : undefined;
}

const DATE_SUFFIX = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/;

/** Levenshtein distance, ignoring case. */
function distance(left: string, right: string): number {
  const a = left.toLowerCase();
  const b = right.toLowerCase();
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitute, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
