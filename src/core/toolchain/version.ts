/** `1.6.0`, `v24.21.0`, `0.80.4-beta.1` as numbers; `undefined` when there is no version in the text. */
export function parseVersion(text: string): [number, number, number] | undefined {
  const match = /(\d+)\.(\d+)\.(\d+)/.exec(text);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : undefined;
}

/** Whether `version` is at least `floor`. A version that cannot be read is not. */
export function atLeast(version: string, floor: string): boolean {
  const a = parseVersion(version);
  const b = parseVersion(floor);
  if (!a || !b) return false;
  for (let i = 0; i < 3; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** For sorting, lowest first. A pre-release stands before its release. */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [parseVersion(a), parseVersion(b)];
  for (let i = 0; i < 3; i++) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  const [preA, preB] = [a.includes('-'), b.includes('-')];
  return preA === preB ? a.localeCompare(b, 'en', { numeric: true }) : preA ? -1 : 1;
}
