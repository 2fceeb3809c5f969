import type { WorktreeView } from '../../../src/protocol/index.ts';

/** A worktree of which everything was kept. */
export function aWorktreeView(over: Partial<WorktreeView> = {}): WorktreeView {
  return {
    state: 'captured',
    path: '/work/tool.worktrees/fix',
    folder: '/work/tool.worktrees/fix',
    branch: 'pi-lanes/fix',
    base: 'a'.repeat(40),
    record: null,
    capture: null,
    changed: true,
    commits: 2,
    files: 3,
    insertions: 4,
    deletions: 5,
    outside: 6,
    warnings: [],
    faults: [],
    ...over,
  };
}
