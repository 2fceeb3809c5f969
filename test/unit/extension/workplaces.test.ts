/** Where agents work: the choice, and that it is remembered for its folder. */
import { describe, expect, it, vi } from 'vitest';
import type { WorktreeOffer } from '../../../src/client/index.ts';
import { workplaceItems } from '../../../src/extension/launch/choose-workplace.ts';
import { isSameWorkplace, Workplaces, workplaceFields } from '../../../src/extension/launch/workplaces.ts';
import { describeError } from '../../../src/protocol/index.ts';
import * as editor from './vscode-stand-in.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

describe('B93 the place that was chosen', () => {
  it('is remembered for its folder, for agents and for workflows apart, over a reload', async () => {
    const state = new editor.Memento() as never;
    const workplaces = new Workplaces(state);
    expect(workplaces.of('file:///one', 'agent')).toEqual({ kind: 'folder' });
    await workplaces.save('file:///one', 'agent', { kind: 'worktree', baseRef: 'main' });
    await workplaces.save('file:///two', 'workflow', { kind: 'worktree' });
    const again = new Workplaces(state);
    expect(again.of('file:///one', 'agent')).toEqual({ kind: 'worktree', baseRef: 'main' });
    expect(again.of('file:///one', 'workflow')).toEqual({ kind: 'folder' });
    expect(again.of('file:///two', 'workflow')).toEqual({ kind: 'worktree' });
    expect(again.of('file:///two', 'agent')).toEqual({ kind: 'folder' });
    expect(again.of(undefined, 'agent')).toEqual({ kind: 'folder' });
    await again.save('file:///one', 'agent', { kind: 'folder' });
    expect(new Workplaces(state).of('file:///one', 'agent')).toEqual({ kind: 'folder' });
  });

  it('is what a launch asks for', () => {
    expect(workplaceFields({ kind: 'folder' })).toEqual({});
    expect(workplaceFields({ kind: 'worktree' })).toEqual({ worktree: true });
    expect(workplaceFields({ kind: 'worktree', baseRef: 'v1' })).toEqual({ worktree: true, baseRef: 'v1' });
    expect(isSameWorkplace({ kind: 'worktree' }, { kind: 'worktree', baseRef: 'v1' })).toBe(false);
    expect(isSameWorkplace({ kind: 'worktree', baseRef: 'v1' }, { kind: 'worktree', baseRef: 'v1' })).toBe(true);
  });
});

describe('the choice', () => {
  const offer: WorktreeOffer = { refusal: null, head: 'main', refs: [{ kind: 'tag', name: 'v1' }] };
  const choices = (over: Partial<WorktreeOffer> = {}, ...rest: [Parameters<typeof workplaceItems>[3]?]) =>
    workplaceItems({ name: 'harbour' }, { ...offer, ...over }, 'agent', rest[0] ?? { kind: 'folder' });

  it('is the folder, a new worktree from HEAD, or from something else', () => {
    expect(choices().map(({ label, description, workplace }) => [label, description, workplace])).toEqual([
      ['In the folder itself', 'harbour', { kind: 'folder' }],
      ['In a new worktree', 'from HEAD, now main', { kind: 'worktree' }],
      ['In a new worktree from another branch or tag…', undefined, undefined],
    ]);
  });

  it('has the base that was chosen before, and says of a HEAD on no branch no name', () => {
    const current = { kind: 'worktree', baseRef: 'release' } as const;
    const items = choices({ head: null, refs: [] }, current);
    expect(items.map(({ description }) => description)).toEqual(['harbour', 'from HEAD', 'from release']);
    expect(items[2]?.workplace).toEqual(current);
  });

  it.each([
    [
      describeError('worktree_refused:no-repository', { children: 'harbour', folder: '/work' }),
      'the folder is in no git repository',
      /^Run it without a worktree/,
    ],
    [
      describeError('worktree_refused:unborn', { children: 'harbour', folder: '/work' }),
      'its branch has no commit yet',
      /^Make a first commit/,
    ],
    [
      describeError('worktree_refused:dirty', { children: 'harbour', folder: '/work', files: 'a.txt, b.txt (+3)' }),
      'not committed, so it would not be in it: a.txt, b.txt (+3)',
      /^Commit or stash them/,
    ],
    [describeError('git_unusable:missing', { reason: 'ENOENT' }), 'Git cannot be used: ENOENT.', /^Install git/],
  ])(
    'is the folder alone where no worktree can be made, with the reason and the next step: %s',
    (refusal, why, next) => {
      const [folder, refused, ...more] = choices({ refusal });
      expect(more).toEqual([]);
      expect(folder?.workplace).toEqual({ kind: 'folder' });
      expect(refused).toMatchObject({ choose: 'refused', description: why, detail: expect.stringMatching(next) });
      expect(refused?.workplace).toBeUndefined();
    },
  );
});
