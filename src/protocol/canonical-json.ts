/**
 * JSON in which the properties of every object are sorted, so that equal values have equal texts. Takes plain JSON;
 * properties that are `undefined` are left out, as in `JSON.stringify`.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** The same value with sorted properties. Sorting first and writing then is several times faster than a replacer. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const entry of entries) entry[1] = sorted(entry[1]);
  // fromEntries defines properties, so a key named "__proto__" stays one.
  return Object.fromEntries(entries);
}
