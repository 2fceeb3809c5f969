/** Where runners of workflows are let die: the points are made from the union of event types, so that a new event is one by itself. */
import { type JournalEventType, type JournalLine, journalEvent } from '../../src/protocol/index.ts';
import { ofType } from './started-run.ts';

/** Every type of event there is, as the schema has them. */
const ALL: readonly JournalEventType[] = journalEvent.def.options.flatMap((option) => option.shape.type.def.values);
/** The work on one child comes to these, which is proven with single runs. */
const OF_ONE_CHILD: readonly JournalEventType[] = [
  'child.progress',
  'child.spawn.failed',
  'child.attempt.failed',
  'child.stdout',
  'attention.raised',
  'attention.cleared',
  'timeout.reached',
  'journal.truncated',
];
/** Where a child works; their own tests let runners die there (`worktree-faults`, `worktree-workflow-faults`, `one-writer`). */
const OF_A_WORKPLACE = ALL.filter((type) => /^(?:worktree|checkout)\./.test(type));
/** Somebody asks for another end. */
const OTHER_ENDS: readonly JournalEventType[] = ['control.requested', 'control.settled', 'run.continued'];
/** Only a runner that takes over comes to these. */
const OF_A_SECOND: readonly JournalEventType[] = ['recovery.begun', 'recovery.decided', 'question.expired'];
/** A person has to be asked about a command. */
const QUESTIONS: readonly JournalEventType[] = ['question.asked', 'question.answered', 'question.expired'];

/** How many there surely are, where that depends on what comes at the same time. */
const FEWEST: Partial<Record<JournalEventType, number>> = {
  'workflow.delivered': 4,
  'workflow.stepped': 4,
};

export interface Place {
  type: JournalEventType;
  when: 'before' | 'after';
  /** The first runner died here, and the one that took over dies at the event. */
  takenOverFrom?: string;
  /** A person is asked about the command. */
  asks: boolean;
  title: string;
}

const SECOND: readonly (readonly [JournalEventType, string])[] = [
  ['runner.started', 'child.prompted:after:2'],
  ['child.ended', 'child.prompted:after:2'],
  ['recovery.begun', 'child.prompted:after:2'],
  ['recovery.decided', 'child.prompted:after:2'],
  ['workflow.stepped', 'workflow.stepped:before:2'],
  ['question.expired', 'question.asked:after'],
];

/** Types of events that an undisturbed workflow comes to. */
export const WORKFLOW_EVENTS: readonly JournalEventType[] = ALL.filter(
  (type) => ![OF_ONE_CHILD, OF_A_WORKPLACE, OTHER_ENDS, OF_A_SECOND, QUESTIONS].some((types) => types.includes(type)),
);

/** All points, of each type before and after. */
export const PLACES: readonly Place[] = [
  ...[...WORKFLOW_EVENTS, ...QUESTIONS.slice(0, 2)].map((type) => [type] as const),
  ...SECOND,
].flatMap(([type, takenOverFrom]) =>
  (['before', 'after'] as const).map((when) => ({
    type,
    when,
    ...(takenOverFrom === undefined ? {} : { takenOverFrom }),
    asks: QUESTIONS.includes(type),
    title: `${when} ${type}${takenOverFrom === undefined ? '' : ', by a second runner'}`,
  })),
);

/** `PI_LANES_FAULT` for one of the events of this place: any that a workflow with this journal surely comes to. */
export function faultAt({ type, when, takenOverFrom }: Place, journal: readonly JournalLine[], random: () => number) {
  const count = FEWEST[type] ?? Math.max(1, ofType(journal, type).length);
  const n = takenOverFrom === undefined ? 1 + Math.floor(random() * count) : 1;
  return `${type}:${when}:${n}`;
}

/** Nobody was told that the run has begun, so it must not begin any more. */
export function isNotBegun({ takenOverFrom }: Place, fault: string): boolean {
  return takenOverFrom === undefined && /^(?:run\.created|runner\.started):|^run\.proceeded:before/.test(fault);
}

/** Nobody knows what the command did: that is what the script is told, and it is not run again. */
export function isCommandCutOff(fault: string): boolean {
  return /^host\.(?:intended:after|started:)/.test(fault);
}
