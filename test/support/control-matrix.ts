/**
 * What every control does to a run, by the run's state and by what is proven about its runner. Data only: the page
 * `docs/control.md` is written from it (`node scripts/control-matrix.mjs`), and `test/process/control.test.ts` carries
 * every row out.
 */

import { workflowSection } from './workflow-control.ts';

export const CONTROLS = ['steer', 'follow-up', 'interrupt', 'stop', 'force stop', 'answer', 'resume'] as const;
export type Control = (typeof CONTROLS)[number];

/** What comes of it, and what that means. Codes are those of refusals: nothing happened. */
export const OUTCOMES = {
  delivered:
    'The message is queued at once; the receipt becomes `delivered` when the model is asked with it. A run that has not begun keeps it until its child has its task; a follow-up waits until the child has nothing else to do.',
  paused: 'The present work ends, with everything it had started; the session is kept, and the run becomes `paused`.',
  stopped: 'Everything the run had started is ended, by verified identity; the run becomes `stopped` for good.',
  'too late': 'The run had ended by itself. Its state and its result stay.',
  answered: 'The child gets the answer and goes on. The first answer wins: a second one is told so.',
  'not asked': 'Nobody waits for this answer; nothing is said to the child.',
  continued:
    'A new runner ends what the lost one left, and goes on with the same run where it stood. A run that was never confirmed by its starter ends `failed` without a child.',
  'new run':
    'A new run goes on with the session of this one. Without a session, or with a damaged one: refused (`resume_refused`).',
  run_lost: 'Refused: the runner is gone. Resume continues the run, Stop ends it.',
  run_not_running: 'Refused: the run has ended.',
  runner_unreachable: 'Refused: the runner holds the run and does not answer. Nothing was asked of it.',
  runner_refused:
    'Refused: the runner answers, so there is no need for force. When the run was asked to end ten seconds ago or more and has not come to it, force is used all the same.',
  processes_unproven:
    'What is proven to belong to the run is ended. Its runner is not proven to be gone and gets no signal: it is named, and the run gets no end.',
  resume_refused:
    'Refused: the run lives (steer it), its runner does not answer (force stop it first) or cannot be told to live or not, or a person stopped it.',
} as const;
export type Outcome = keyof typeof OUTCOMES;

/** `ended`: a run in a terminal state needs no runner. */
export type Runner = 'alive' | 'lost' | 'unresponsive' | 'unknown' | 'ended';

export type LiveState = 'queued' | 'running' | 'waiting';
export type EndState = 'paused' | 'complete' | 'partial' | 'failed' | 'stopped';

export interface Row {
  state: LiveState | EndState;
  runner: Runner;
  outcomes: Readonly<Record<Control, Outcome>>;
}

const ALIVE = {
  steer: 'delivered',
  'follow-up': 'delivered',
  interrupt: 'paused',
  stop: 'stopped',
  'force stop': 'runner_refused',
  answer: 'not asked',
  resume: 'resume_refused',
} as const;

const LOST = {
  steer: 'run_lost',
  'follow-up': 'run_lost',
  interrupt: 'run_lost',
  stop: 'stopped',
  'force stop': 'stopped',
  answer: 'run_lost',
  resume: 'continued',
} as const;

const UNRESPONSIVE = {
  steer: 'runner_unreachable',
  'follow-up': 'runner_unreachable',
  interrupt: 'runner_unreachable',
  stop: 'runner_unreachable',
  'force stop': 'stopped',
  answer: 'runner_unreachable',
  resume: 'resume_refused',
} as const;

const UNKNOWN = { ...UNRESPONSIVE, 'force stop': 'processes_unproven' } as const;

const ENDED = {
  steer: 'run_not_running',
  'follow-up': 'run_not_running',
  interrupt: 'too late',
  stop: 'too late',
  'force stop': 'too late',
  answer: 'run_not_running',
  resume: 'new run',
} as const;

export const MATRIX: readonly Row[] = [
  { state: 'queued', runner: 'alive', outcomes: ALIVE },
  { state: 'queued', runner: 'lost', outcomes: LOST },
  { state: 'queued', runner: 'unresponsive', outcomes: UNRESPONSIVE },
  { state: 'queued', runner: 'unknown', outcomes: UNKNOWN },
  { state: 'running', runner: 'alive', outcomes: ALIVE },
  { state: 'running', runner: 'lost', outcomes: LOST },
  { state: 'running', runner: 'unresponsive', outcomes: UNRESPONSIVE },
  { state: 'running', runner: 'unknown', outcomes: UNKNOWN },
  { state: 'waiting', runner: 'alive', outcomes: { ...ALIVE, answer: 'answered' } },
  { state: 'waiting', runner: 'lost', outcomes: LOST },
  { state: 'waiting', runner: 'unresponsive', outcomes: UNRESPONSIVE },
  { state: 'waiting', runner: 'unknown', outcomes: UNKNOWN },
  { state: 'paused', runner: 'ended', outcomes: ENDED },
  { state: 'complete', runner: 'ended', outcomes: ENDED },
  { state: 'partial', runner: 'ended', outcomes: ENDED },
  { state: 'failed', runner: 'ended', outcomes: ENDED },
  { state: 'stopped', runner: 'ended', outcomes: { ...ENDED, resume: 'resume_refused' } },
];

/** The page `docs/control.md`. */
export function controlPage(): string {
  return `${INTRODUCTION}
${table(
  ['state', 'runner', ...CONTROLS],
  MATRIX.map(({ state, runner, outcomes }) => [
    `\`${state}\``,
    runner === 'ended' ? '' : runner,
    ...CONTROLS.map((control) => shown(outcomes[control])),
  ]),
)}

${table(
  ['outcome', 'what it means'],
  Object.entries(OUTCOMES).map(([outcome, meaning]) => [shown(outcome), meaning]),
)}
${workflowSection(table)}${CLOSING}`;
}

/** Codes and states of a run stand as code. */
function shown(outcome: string): string {
  return outcome.includes('_') ? `\`${outcome}\`` : outcome;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

const INTRODUCTION = `# Control

What a person can ask of a run, and what comes of it. Written by \`node scripts/control-matrix.mjs\` from
\`test/support/control-matrix.ts\`; \`test/process/control.test.ts\` carries every row out.

- **Any client of the same user controls any run it can see**: the editor, the command line, several of them at once. A request
  goes to the run's runner over its socket; who started the run, and whether that still lives, makes no difference.
- **A request is in the journal before it has an effect**, with who asked. The same request, sent twice, is carried out once.
- **Stop wins over a time limit, a time limit over interrupt**, in whatever order they come while the work is being ended.
- **\`lost\`** and **\`unresponsive\`** are never stored. A run is lost when the identity of its runner's process is proven gone;
  unresponsive when that process lives, holds the run, and does not answer within a second. How long it has been silent
  makes no difference: nothing is ended for its age.
- **\`unknown\`** is a run of which nothing can be proven: its record, journal or lease cannot be read, or the system does not tell
  whether its runner lives. Nothing is asked of it and it is not resumed. Force Stop ends what the journal names, each
  process by verified identity, and says which are not proven to be gone; without a record that is all that can be done.
- **What a living runner needs is made again** within five seconds when somebody removes or damages it: lease, marker, socket,
  record, journal. What stood in the place of a journal is kept beside it (\`journal.jsonl.<time>.aside\`).
- **A runner that is told to leave** (\`SIGTERM\`, \`SIGINT\`: a shutdown, an administrator) ends its child and leaves the run
  \`lost\`, to be continued. When the run was asked to end, or its work is over, it is brought to its end first. Told
  again it kills what is still ending without any more patience; proof and last lines are the same.
- **An end has deadlines everywhere.** Files for reading along keep it waiting three seconds at most, a process that does not go
  even when it is killed ten. A disk that takes no line of the journal keeps the end waiting: then Force Stop, ten
  seconds after the run was asked to end, ends its processes.
- **A stop is for good**: what a person stopped is not resumed. A Pi that something else ended (the system out of memory, a
  crash, a signal from outside) leaves the run \`stopped\` as well, with the signal; nobody gave that work up, so resume goes on
  with its session as a new run.
`;

const RECEIPTS = {
  queued: 'The child has it in its queue, or gets it as soon as it has its task. Later receipts stand in the journal.',
  delivered: "The child's model was asked with it. Nothing less counts.",
  missed:
    'The child ended its work before that, an extension of it dealt with the message alone, or the runner was lost and nobody knows (`outcome unknown`).',
  failed: 'The child refused it; the reason is given.',
};

const CLOSING = `
## Receipts of a message

${table(
  ['receipt', 'what it means'],
  Object.entries(RECEIPTS).map(([receipt, meaning]) => [`\`${receipt}\``, meaning]),
)}

A message that reaches the child just after its end begins more work in the same conversation; the run then ends with the answer
to it. Pi puts the text of a skill or a prompt template in place of its name, in messages as in tasks.

Whoever sends a message waits at most three seconds for more than \`queued\`. An empty message (\`steer_empty\`) and one of more
than 128 KiB (\`steer_too_large\`) are refused.

## Time limits

A limit counts the time during which a runner of the run was alive, by a monotonic clock; sleep, suspension and the time
between two runners do not count. When it is reached the child is asked to stop, then ended: its input is closed, after 2 s it
gets SIGTERM, after another second SIGTERM again, after another second everything it started is killed. The error names what
the child was doing. The last words it had said until then are kept as the result, as they are after a stop or an interrupt, and
no other model is tried.

A limit is given in seconds or minutes, with fractions; \`0\` means none. One so small that it would round to none is refused.
`;
