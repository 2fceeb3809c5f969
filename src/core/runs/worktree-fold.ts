/** The worktree of a child, from the events of its run. */
import type { ChildView, JournalEvent, WorktreeView } from '../../protocol/index.ts';

type WorktreeEvent = Extract<JournalEvent, { type: `worktree.${string}` }>;

/** What the view of the child has of its worktree after one more event. */
export function applyToWorktree(
  worktree: WorktreeView | undefined,
  event: WorktreeEvent,
): Pick<ChildView, 'worktree' | 'cwd'> {
  if (event.type === 'worktree.planned') return { worktree: newWorktree(event.plan, 'planned') };
  if (event.type === 'worktree.joined') {
    const { of, record, folder } = event;
    return { worktree: { ...newWorktree(event, 'ready'), of, record }, cwd: folder };
  }
  if (!worktree) return {};
  switch (event.type) {
    case 'worktree.made':
      return { worktree: { ...worktree, state: 'made', record: event.record, warnings: event.warnings } };
    case 'worktree.provisioned':
      return {
        worktree: { ...worktree, state: 'ready', record: event.record, warnings: event.warnings },
        cwd: worktree.folder,
      };
    case 'worktree.undone':
      return { worktree: { ...worktree, state: 'undone', record: null, faults: event.left } };
    case 'worktree.captured': {
      const { capture, changed, commits, files, insertions, deletions, outside, blockers: faults } = event;
      const found = { capture, changed, commits, files, insertions, deletions, outside, faults };
      return { worktree: { ...worktree, ...found, state: 'captured' } };
    }
    case 'worktree.capture.failed':
      return { worktree: { ...worktree, state: 'capture-failed', faults: [event.error] } };
    default:
      return event satisfies never;
  }
}

/** The child begins in it, once more perhaps: what was kept of it before may not be all any more. */
export function enterWorktree(worktree: WorktreeView | undefined): Pick<ChildView, 'worktree'> {
  if (worktree?.state !== 'captured' && worktree?.state !== 'capture-failed') return {};
  return { worktree: { ...worktree, state: 'ready', faults: [] } };
}

function newWorktree(
  { path, folder, branch, base }: Pick<WorktreeView, 'path' | 'folder' | 'branch' | 'base'>,
  state: WorktreeView['state'],
): WorktreeView {
  return {
    state,
    path,
    folder,
    branch,
    base,
    record: null,
    capture: null,
    changed: null,
    commits: 0,
    files: 0,
    insertions: 0,
    deletions: 0,
    outside: 0,
    warnings: [],
    faults: [],
  };
}
