/**
 * JSON in which the properties of every object are sorted, so that equal values have equal texts. Takes plain JSON;
 * properties that are `undefined` are left out, as in `JSON.stringify`.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    // fromEntries defines properties, so a key named "__proto__" stays one.
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
