/** What a workflow did beside what was said beforehand. Advice: nothing is refused for it. */
import { MAX_PREFLIGHT_WARNINGS, type Preflight } from '../../protocol/index.ts';

/**
 * @param launched keys of its children, in the order of their launch
 * @param isOver whether none can be added any more
 * @returns at most 16 sentences; when there are more, the last one says how many
 */
export function preflightWarnings(
  { coverage, lanes }: Preflight,
  launched: readonly string[],
  isOver: boolean,
): string[] {
  const covers = (lane: string, key: string) => key === lane || key.startsWith(`${lane}.`);
  const outside =
    coverage === 'complete' ? [...new Set(launched)].filter((key) => !lanes.some((lane) => covers(lane.key, key))) : [];
  const missing = isOver ? lanes.filter((lane) => !launched.some((key) => covers(lane.key, key))) : [];
  const warnings = [
    ...outside.map((key) => `${key} was launched, and no lane of the preflight covers it.`),
    ...missing.map(({ key }) => `The lane ${key} of the preflight was never launched.`),
  ];
  if (warnings.length <= MAX_PREFLIGHT_WARNINGS) return warnings;
  const shown = warnings.slice(0, MAX_PREFLIGHT_WARNINGS - 1);
  return [...shown, `${warnings.length - shown.length} more differences from the preflight are not listed.`];
}
