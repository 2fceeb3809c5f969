/** The box for a task: what Enter does, that the plan stands in it before anything starts, and that it never takes what is typed. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { askTask, type TaskAnswer } from '../../../src/extension/launch/ask-task.ts';
import type { AgentForecast } from '../../../src/extension/launch/foresee-agent.ts';
import type { Workplace } from '../../../src/extension/launch/workplaces.ts';
import { describeError } from '../../../src/protocol/index.ts';
import { aForecast } from '../builders/forecast.ts';

interface Item {
  label: string;
  description?: string;
  kind?: number;
  choose?: string;
  alwaysShow?: boolean;
}

const box = vi.hoisted(() => {
  const handlers: Record<string, (value?: unknown) => void> = {};
  const on = (name: string) => (run: (value?: unknown) => void) => {
    handlers[name] = run;
  };
  return {
    handlers,
    pick: {
      value: '',
      busy: false,
      buttons: [] as { tooltip: string }[],
      items: [] as Item[],
      activeItems: [] as Item[],
      selectedItems: [] as Item[],
      onDidChangeValue: on('value'),
      onDidTriggerButton: on('button'),
      onDidAccept: on('accept'),
      onDidHide: on('hide'),
      show: () => undefined,
      dispose: () => undefined,
    },
  };
});

vi.mock('vscode', async () => {
  const editor = await import('./vscode-stand-in.ts');
  return {
    ...editor,
    QuickPickItemKind: { Separator: -1 },
    window: { ...editor.window, createQuickPick: () => box.pick },
  };
});

const { pick } = box;
let showPlan: ReturnType<typeof vi.fn<() => void>>;
let typed: string[];

beforeEach(() => {
  Object.assign(pick, { value: '', busy: false, items: [], activeItems: [], selectedItems: [] });
  showPlan = vi.fn<() => void>();
  typed = [];
});

function asked(forecast: Promise<AgentForecast>, workplace: Workplace = { kind: 'folder' }, recent: string[] = []) {
  return askTask({
    draft: { task: '', agent: 'worker' },
    recent,
    workplace,
    forecast,
    showPlan,
    onTyped: (task) => typed.push(task),
  });
}

/** One turn of what waits for the forecast. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const labels = () => pick.items.map(({ label }) => label);

function type(text: string): void {
  pick.value = text;
  box.handlers['value']?.(text);
}

function take(label: string): void {
  pick.selectedItems = pick.items.filter((item) => item.label === label);
  box.handlers['accept']?.();
}

describe('the box for a task', () => {
  it('shows the plan of what will run as soon as it is known, and says that it is being made', async () => {
    const { promise, resolve } = Promise.withResolvers<AgentForecast>();
    void asked(promise);
    expect(pick.busy).toBe(true);
    expect(labels()).toEqual(['what will run', 'Model…', 'Folder or Worktree…', 'more', 'Write in an Editor…']);
    resolve(aForecast(['tools: read']));
    await settled();
    expect(pick.busy).toBe(false);
    expect(labels()).toEqual([
      'what will run',
      'Model…',
      'Folder or Worktree…',
      'Tools',
      'Context',
      'Limits',
      'more',
      'Write in an Editor…',
    ]);
  });

  it('keeps what is typed on top, with the plan below it whatever it filters, and Enter launches', async () => {
    const answer = asked(Promise.resolve(aForecast(['tools: read'])), { kind: 'worktree', baseRef: 'main' }, ['older']);
    await settled();
    type('Mend it.');
    const [first, ...rest] = pick.items;
    expect(first).toMatchObject({
      label: 'Mend it.',
      description: 'launch worker in a new worktree from main, model: default',
      alwaysShow: true,
    });
    expect(rest.filter(({ alwaysShow }) => alwaysShow).map(({ label }) => label)).toEqual([
      'Model…',
      'Folder or Worktree…',
      'Tools',
      'Context',
      'Limits',
    ]);
    expect(rest.find(({ label }) => label === 'older')?.alwaysShow).toBeUndefined();
    take('Mend it.');
    expect(await answer).toEqual({ kind: 'launch', task: 'Mend it.' });
    expect(typed).toEqual(['Mend it.']);
  });

  it('launches at once when Enter comes before the plan, and draws nothing in a box that is gone', async () => {
    const { promise, resolve } = Promise.withResolvers<AgentForecast>();
    const answer = asked(promise);
    type('Mend it.');
    pick.selectedItems = [];
    box.handlers['accept']?.();
    expect(await answer).toEqual({ kind: 'launch', task: 'Mend it.' });
    const before = pick.items;
    resolve(aForecast());
    await settled();
    expect(pick.items).toBe(before);
  });

  it.each<[string, TaskAnswer]>([
    ['Model…', { kind: 'model' }],
    ['Folder or Worktree…', { kind: 'workplace' }],
  ])('leads from %s to the choice, also with a task in it', async (label, wanted) => {
    const answer = asked(Promise.resolve(aForecast()));
    type('Mend it.');
    take(label);
    expect(await answer).toEqual(wanted);
  });

  it('shows the whole plan from any of its other rows and from its button, and stays', async () => {
    let isOver = false;
    const answer = asked(Promise.resolve(aForecast())).finally(() => {
      isOver = true;
    });
    await settled();
    type('Mend it.');
    take('Tools');
    box.handlers['button']?.(pick.buttons.find(({ tooltip }) => tooltip === 'Show the Plan'));
    await settled();
    expect(showPlan).toHaveBeenCalledTimes(2);
    expect(isOver).toBe(false);
    box.handlers['button']?.(pick.buttons.find(({ tooltip }) => tooltip === 'Choose Folder or Worktree'));
    expect(await answer).toEqual({ kind: 'workplace' });
  });

  it('has above the plan why the launch will be refused, and the person stays on the row they are on', async () => {
    const problem = describeError('worktree_refused:dirty', { children: 'worker', folder: '/work', files: 'a.txt' });
    const { promise, resolve } = Promise.withResolvers<AgentForecast>();
    void asked(promise, { kind: 'worktree' }, ['older']);
    pick.activeItems = pick.items.filter(({ label }) => label === 'Folder or Worktree…');
    resolve(aForecast([], {}, { problem }));
    await settled();
    expect(labels().slice(0, 5)).toEqual([
      'launched before',
      'older',
      'to be known',
      'No worktree can be made now',
      'what will run',
    ]);
    expect(pick.activeItems.map(({ label }) => label)).toEqual(['Folder or Worktree…']);
  });
});
