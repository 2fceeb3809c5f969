import { preflightWarnings } from '../core/workflow/index.ts';
import { isTerminal, type RunView } from '../protocol/index.ts';

/** What a workflow did beside what was said beforehand; none where nothing was said. */
export function preflightDifferences({ workflow, children, state }: RunView): string[] {
  if (!workflow?.preflight) return [];
  const launched = children.flatMap(({ key }) => key ?? []);
  return preflightWarnings(workflow.preflight, launched, isTerminal(state));
}
