/** Which child of a run a person means. */
import { childNames, parseChildRunId, workflowGraph } from '../core/runs/index.ts';
import { nearest } from '../core/spelling/index.ts';
import { type ChildView, lanesError, type RunView } from '../protocol/index.ts';

/**
 * The newest child of a key, or the one with this run id (`<run id>.<number>`), or with this number.
 * @throws LanesError `child_unknown`, with the key that may have been meant and those there are, or that it is a stage not begun
 */
export function childNamed(view: RunView, name: string): ChildView {
  const wanted = name.trim();
  const byKey = view.children.findLast(({ key }) => key === wanted);
  if (byKey) return byKey;
  const id = parseChildRunId(wanted);
  const byId = id?.runId === view.runId && view.children.find(({ index }) => index === id.child);
  if (byId) return byId;
  const byNumber = /^[1-9]\d*$/.test(wanted) && view.children.find(({ index }) => index === Number(wanted));
  if (byNumber) return byNumber;
  const stage = workflowGraph(view)
    ?.phases.flatMap(({ nodes }) => nodes)
    .find(({ id, kind }) => id === wanted && kind === 'planned');
  if (stage) throw lanesError(stage.state === 'queued' ? 'child_unknown:planned' : 'child_unknown:skipped', { name });
  if (view.children.length === 0) throw lanesError('child_unknown:none', { name });
  const keys = view.children.flatMap(({ key }) => key ?? []);
  const meant = nearest(wanted, keys);
  const known = childNames(view);
  throw meant === undefined
    ? lanesError('child_unknown', { name, known })
    : lanesError('child_unknown:nearest', { name, nearest: meant, known });
}
