/** What became of the children of a script, in the order of their launch. */
import type { ChildView } from './child-result.ts';

export class SettledChildren {
  readonly #order: string[] = [];
  readonly #views = new Map<string, ChildView>();

  launched(key: string): void {
    this.#order.push(key);
  }

  add(view: ChildView): void {
    this.#views.set(view.key, view);
  }

  /** The view with the runs that a child went through, the newest last. @param resume the run that it goes on with */
  withLineage(view: ChildView, resume: unknown): ChildView {
    if (view.runId === undefined || view.continuation !== undefined || typeof resume !== 'string') return view;
    const before = [...this.#views.values()].find(({ runId }) => runId === resume.trim());
    const ancestors = before?.continuation?.runIds ?? [resume.trim()];
    return { ...view, continuation: { runIds: [...new Set([...ancestors, view.runId])] } };
  }

  get all(): ChildView[] {
    return this.#order.flatMap((key) => this.#views.get(key) ?? []);
  }
}
