/**
 * What `pi-lanes continue` does with a workflow, by what has ended it, and what the controls of a single run do to one of its agents.
 * Data only: a part of `docs/control.md` is written from it, and `test/unit/continue-workflow.test.ts` carries every row out.
 */

/** `kept`: with the limits it has. `raised`: with higher ones of whatever has ended it. */
export interface ContinueRow {
  id: keyof typeof SITUATIONS;
  kept: 'continued' | 'resume_refused';
  raised: 'continued' | 'resume_refused';
}

export const SITUATIONS = {
  lost: 'its runner is gone (`lost`)',
  alive: 'it is at work, or its runner does not answer',
  children: '`failed`: it had used up the children it may start',
  budget: '`partial`: it had used up the tokens or the money it may use',
  time: '`partial`: its time limit had passed',
  runners: '`failed`: its runners had died again and again',
  file: '`failed`: a file of the run was damaged (`run_unreadable`) or could not be written (`result_unsaved`)',
  engine: '`failed`: the engine of its script had died',
  script: '`failed`: its script threw an error, or left launches unawaited',
  complete: '`complete`',
  stopped: '`stopped`',
} as const;

export const CONTINUES: readonly ContinueRow[] = [
  { id: 'lost', kept: 'continued', raised: 'continued' },
  { id: 'alive', kept: 'resume_refused', raised: 'resume_refused' },
  { id: 'children', kept: 'resume_refused', raised: 'continued' },
  { id: 'budget', kept: 'resume_refused', raised: 'continued' },
  { id: 'time', kept: 'resume_refused', raised: 'continued' },
  { id: 'runners', kept: 'continued', raised: 'continued' },
  { id: 'file', kept: 'continued', raised: 'continued' },
  { id: 'engine', kept: 'continued', raised: 'continued' },
  { id: 'script', kept: 'resume_refused', raised: 'resume_refused' },
  { id: 'complete', kept: 'resume_refused', raised: 'resume_refused' },
  { id: 'stopped', kept: 'resume_refused', raised: 'resume_refused' },
];

/** The part of the page that is about workflows. */
export function workflowSection(
  table: (head: readonly string[], rows: readonly (readonly string[])[]) => string,
): string {
  const shown = (outcome: string) => (outcome.includes('_') ? `\`${outcome}\`` : outcome);
  return `
## Workflows

A workflow is controlled as a single run is; _stop_ ends its script, its agents and its commands. With \`--child\` (a key, or the run id
of the agent) _stop_, _interrupt_ and _steer_ reach one agent: it becomes \`stopped\` or \`paused\`, its script is told so, the others and the
script go on. _Interrupt_ always needs one. A name that no agent has is refused with the nearest and all that there are
(\`child_unknown\`); an agent that has ended is _too late_. _Resume_ with \`--child\` goes on with the session of one that has ended, as a run of its own;
the workflow does not hear of it.

_Continue_ goes on with the same run, whoever asks: its script is repeated up to where it stood, and nothing that had ended is started
again. Limits are kept or raised, over the whole run: a lower one is refused, and so is a time limit that has passed already.

${table(
  ['what has ended it', 'continue with the same limits', 'with higher ones'],
  CONTINUES.map(({ id, kept, raised }) => [SITUATIONS[id], shown(kept), shown(raised)]),
)}
`;
}
