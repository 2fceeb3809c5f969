/** The worktree of a child as the command line tells it. */
import { describe, expect, it } from 'vitest';
import { keptOf, noticesOf, worktreeLine } from '../../src/cli/worktree-text.ts';
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

  it('names what was not as it should be, of a workflow by key, each on a line', () => {
    const warnings = [{ code: 'worktree_incomplete' as const, message: 'No hooks.', hint: 'Install\nthem.' }];
    const faults = [{ code: 'worktree_preserved' as const, message: 'It is locked.' }];
    const worktree = aWorktreeView({ warnings, faults });
    expect(noticesOf([{ worktree }, {}])).toEqual(['No hooks. Install␊them.', 'It is locked.']);
    expect(noticesOf([{ key: 'fix', worktree }])).toEqual(['fix: No hooks. Install␊them.', 'fix: It is locked.']);
    // Why nothing could be kept is told beside that.
    const failed = aWorktreeView({ state: 'capture-failed', faults });
    expect([noticesOf([{ worktree: failed }]), noticesOf([{ key: 'fix', worktree: failed }])]).toEqual([
      [],
      ['fix: It is locked.'],
    ]);
  });
});
