/** Children of a run as people see them: what the journal says of each, and what is known of the run around it. */
import type { RunSnapshot } from '../../client/index.ts';
import { type ChildView, isTerminal, type QuestionView, type RunState } from '../../protocol/index.ts';

/** Nothing can be said of a child whose runner is gone or silent but that. */
const OF_ALL: ReadonlySet<RunState> = new Set<RunState>(['lost', 'unresponsive', 'unknown']);

export function childState(child: ChildView, { state, view }: Pick<RunSnapshot, 'state' | 'view'>): RunState {
  if (isTerminal(child.state)) return child.state;
  if (OF_ALL.has(state)) return state;
  return view && questionOf(view.questions, child.index) ? 'waiting' : child.state;
}

/** The question of a child that waits the longest. */
export function questionOf(questions: readonly QuestionView[], child: number): QuestionView | undefined {
  return questions.find((question) => question.child === child);
}

export function findChild({ view }: Pick<RunSnapshot, 'view'>, index: number): ChildView | undefined {
  return view?.children.find((child) => child.index === index);
}

export function isWorkflow({ view }: Pick<RunSnapshot, 'view'>): boolean {
  return view?.mode === 'workflow';
}
