/** The worktree of a child as the command line tells it. */
import { describe, expect, it } from 'vitest';
import { keptOf, worktreeLine } from '../../src/cli/worktree-text.ts';
import { aWorktreeView } from './builders/worktree-view.ts';

const capture = { file: 'children/1/worktree/capture-1/capture.json', bytes: 1, sha256: 'a'.repeat(64) };

describe('a worktree', () => {
  it('is named with what was kept of it, and where', () => {
    expect(worktreeLine('/run', aWorktreeView({ capture }))).toBe(
      'Worktree: /work/tool.worktrees/fix (pi-lanes/fix). Kept: 3 changed file(s), 2 commit(s), 6 file(s) outside of git. Patch: /run/children/1/worktree/capture-1/changes.patch',
    );
    const onlyIgnored = aWorktreeView({ capture, files: 0, commits: 0 });
    expect(worktreeLine('/run', onlyIgnored)).toMatch(/6 file\(s\) outside of git\.$/);
  });

  it('says why it was not kept, that it is not yet, or that there was nothing', () => {
    const faults = [{ code: 'git_failed' as const, message: 'Git failed.' }];
    expect(keptOf(aWorktreeView({ state: 'capture-failed', faults }))).toBe('not yet: Git failed.');
    expect(keptOf(aWorktreeView({ state: 'ready' }))).toBeUndefined();
    expect(keptOf(aWorktreeView({ changed: false }))).toBe('no change');
    expect(worktreeLine('/run', aWorktreeView({ state: 'undone' }))).toBeUndefined();
  });
});
