/** Whether a workflow starts, as the list of its plan and what comes after it tell. */
import { describe, expect, it, vi } from 'vitest';
import type { WorkflowPreview } from '../../../src/client/index.ts';
import { confirmPlan } from '../../../src/extension/workflows/plan-pick.ts';
import { describeError, type ErrorValue } from '../../../src/protocol/index.ts';

const list = vi.hoisted(() => {
  const handlers: { accept?: () => void; hide?: () => void } = {};
  const pick = {
    items: [] as { action?: string }[],
    selectedItems: [] as { action?: string }[],
    onDidAccept: (run: () => void) => {
      handlers.accept = run;
    },
    onDidHide: (run: () => void) => {
      handlers.hide = run;
    },
    show: () => undefined,
    hide: () => handlers.hide?.(),
    // As in the editor, where a list that Escape has closed tells it twice.
    dispose: () => handlers.hide?.(),
  };
  return {
    pick,
    offered: vi.fn<(message: string, ...titles: string[]) => Promise<string | undefined>>(),
    choose: (action: string) => {
      pick.selectedItems = pick.items.filter((item) => item.action === action);
      handlers.accept?.();
    },
  };
});

vi.mock('vscode', async () => {
  const editor = await import('./vscode-stand-in.ts');
  return {
    ...editor,
    QuickPickItemKind: { Separator: -1 },
    window: { ...editor.window, createQuickPick: () => list.pick, showInformationMessage: list.offered },
  };
});

const preview: WorkflowPreview = {
  children: [],
  more: [],
  hasMore: false,
  models: [],
  hosts: [],
  hasMoreHosts: false,
};

function asked(answer?: string, problem: ErrorValue | null = null) {
  list.offered.mockReset();
  list.offered.mockResolvedValue(answer);
  const showDocument = vi.fn(async () => undefined);
  const agreed = confirmPlan({
    name: 'look',
    preview,
    workplace: problem ? { kind: 'worktree' } : { kind: 'folder' },
    problem,
    showDocument,
    showPlace: async () => undefined,
  });
  return { agreed, showDocument };
}

describe('the plan of a workflow in a list', () => {
  it('starts it, and asks nothing more', async () => {
    const { agreed, showDocument } = asked();
    list.choose('document');
    expect(showDocument).toHaveBeenCalledOnce();
    list.choose('start');
    expect(await agreed).toBe('start');
    expect(list.offered).not.toHaveBeenCalled();
  });

  it('that is closed starts nothing', async () => {
    const { agreed } = asked();
    list.pick.hide();
    expect(await agreed).toBe('leave');
    expect(list.offered).not.toHaveBeenCalled();
  });

  it.each([
    ['Start', 'start'],
    [undefined, 'leave'],
  ])('that is closed to read the plan offers the start once more: %s', async (answer, decision) => {
    const { agreed } = asked(answer);
    list.choose('document');
    list.pick.hide();
    expect(await agreed).toBe(decision);
    expect(list.offered.mock.calls).toEqual([['"look" has not been started.', 'Start']]);
  });

  it('says where agents work, and that it is to be elsewhere', async () => {
    const { agreed } = asked();
    expect(list.pick.items).toContainEqual(
      expect.objectContaining({ description: 'agents work in the folder, unless the script says otherwise' }),
    );
    list.choose('workplace');
    expect(await agreed).toBe('workplace');
  });

  it('that cannot be carried out says why, offers another place, and no start, not even when it was read', async () => {
    const { agreed } = asked('Start', describeError('worktree_refused:unborn', { children: 'look', folder: '/work' }));
    const [first] = list.pick.items;
    expect(first).toMatchObject({ description: 'its branch has no commit yet', action: 'workplace' });
    expect(list.pick.items.some(({ action }) => action === 'start')).toBe(false);
    list.choose('document');
    list.pick.hide();
    expect(await agreed).toBe('leave');
    expect(list.offered).not.toHaveBeenCalled();
  });
});
