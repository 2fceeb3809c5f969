/** What the box for a task and its document tell of a launch before it starts. */
import { describe, expect, it, vi } from 'vitest';
import { agentPlanDocument } from '../../../src/extension/launch/agent-plan-document.ts';
import { planItems, troubleItems } from '../../../src/extension/launch/agent-plan-items.ts';
import type { Draft } from '../../../src/extension/launch/draft.ts';
import type { AgentForecast } from '../../../src/extension/launch/foresee-agent.ts';
import { describeError } from '../../../src/protocol/index.ts';
import { aForecast } from '../builders/forecast.ts';

vi.mock('vscode', async () => ({
  ...(await import('./vscode-stand-in.ts')),
  QuickPickItemKind: { Separator: -1 },
}));

const rows = (forecast: AgentForecast | undefined, draft: Draft = { task: '' }) =>
  planItems(draft, forecast?.workplace ?? { kind: 'folder' }, forecast).map(({ label, description }) => [
    label,
    description,
  ]);
const row = (label: string, forecast: AgentForecast) => new Map(rows(forecast) as [string, string][]).get(label);

describe('the rows of a plan', () => {
  it('are the model and who has named it, the place, tools, context and limits', () => {
    const forecast = aForecast(['tools: read, grep', 'model: fake/two', 'thinking: high', 'fallbackModels: fake/one']);
    expect(rows(forecast)).toEqual([
      ['Model…', 'fake/two, thinking high · named by the agent · else fake/one, thinking high'],
      ['Folder or Worktree…', 'in the folder itself'],
      ['Tools', 'read, grep'],
      ['Context', 'a new conversation'],
      ['Limits', 'ends after 30m 00s'],
    ]);
  });

  it('say what is asked for while nothing more is known', () => {
    expect(rows(undefined, { task: '', model: 'fake/two', thinking: 'low' })).toEqual([
      ['Model…', 'fake/two, thinking low'],
      ['Folder or Worktree…', 'in the folder itself'],
    ]);
  });

  it.each<[string, Parameters<typeof aForecast>, string]>([
    [
      'the person',
      [['model: fake/one'], { call: { task: 'x', model: 'fake/two' } }],
      'fake/two · chosen for this task',
    ],
    [
      'the setting',
      [[], { settings: { model: 'fake/two' } }, { defaultModel: 'fake/two' }],
      'fake/two · from the setting piLanes.defaultModel',
    ],
    ['nobody', [[]], 'fake/one · default of Pi'],
    ['nobody, and Pi neither', [[], {}, { piDefault: null }], 'not known before · default of Pi'],
  ])('name the model that %s has named', (_, made, words) => {
    expect(row('Model…', aForecast(...made))).toBe(words);
  });

  it('tell tools that a run forbids, and every limit', () => {
    const forecast = aForecast(['excludeTools: bash', 'toolTimeoutMs: 60000', 'toolBudget:', '  hard: 40'], {
      call: { task: 'x', timeoutMs: null },
    });
    expect(row('Tools', forecast)).toBe('what Pi offers · not bash');
    expect(row('Limits', forecast)).toBe('no time limit · 1m 00s for one tool call · 40 tool calls');
  });

  it('name the worktree and what it starts from', () => {
    const at = (baseRef?: string) =>
      row(
        'Folder or Worktree…',
        aForecast([], {}, { workplace: { kind: 'worktree', ...(baseRef === undefined ? {} : { baseRef }) } }),
      );
    expect(at()).toBe('in a new worktree from HEAD');
    expect(at('$(rm)')).toBe('in a new worktree from \\$(rm)');
  });
});

describe('what is to be known', () => {
  const dirty = describeError('worktree_refused:dirty', { children: 'worker', folder: '/work', files: 'a.txt' });

  it('is why a launch will be refused, with the next step, and a click leads to the place', () => {
    const [item, ...more] = troubleItems(aForecast([], {}, { problem: dirty }));
    expect(more).toEqual([]);
    expect(item).toMatchObject({ choose: 'workplace', iconPath: { id: 'error' } });
    expect(item?.label).toBe('No worktree can be made now');
    expect(item?.description).toBe('not committed, so it would not be in it: a.txt');
    expect(item?.detail).toBe('Commit or stash them, or run it without a worktree.');
  });

  it('is every warning of the plan', () => {
    const limits = { ceiling: { allowedTools: ['read'] } };
    const [item] = troubleItems(aForecast(['tools: read, bash'], { limits }));
    expect(item).toMatchObject({ choose: 'plan', iconPath: { id: 'warning' }, label: expect.stringContaining('bash') });
  });

  it.each([
    ['wait', /begins when the other has ended/],
    ['refuse', /will be refused/],
  ] as const)('B93 is that two would change files in one folder, and what comes of it: %s', (writers, what) => {
    const [item, ...more] = troubleItems(aForecast([], {}, { writer: { owner: 'run 7', writers } }));
    expect(more).toEqual([]);
    expect(item).toMatchObject({ description: 'run 7', detail: expect.stringMatching(what), choose: 'workplace' });
  });

  it('is nothing where there is nothing', () => {
    expect(troubleItems(aForecast())).toEqual([]);
  });
});

describe('the document', () => {
  it('has everything, with the prompts to the letter and nothing of a child drawn as Markdown', () => {
    const text = agentPlanDocument(
      'worker',
      aForecast(['tools: read'], { call: { task: 'Mend `it`.\n```\nnow' }, cwd: '/work' }),
    );
    expect(text).toMatch(/^# Plan of worker\n\nWhat a launch will run\. Nothing has been started\./);
    expect(text).toContain('- Tools: read');
    expect(text).toContain('- Folder: /work');
    expect(text).toContain('- Works: in the folder itself');
    expect(text).toContain('````markdown\nMend `it`.\n```\nnow');
    expect(text).not.toContain('To Be Known');
  });

  it('says why it cannot be launched, with what is known all the same, and without it', () => {
    const problem = describeError('worktree_refused:unborn', { children: 'worker', folder: '/work' });
    const text = agentPlanDocument('worker', aForecast([], {}, { problem }));
    expect(text).toContain('It cannot be launched like this.');
    expect(text).toMatch(/## To Be Known\n\n- .*no commit yet\. Make a first commit/);
    expect(text).toContain('- Tools: ');
    expect(agentPlanDocument('worker', aForecast([], {}, { problem, plan: null }))).not.toContain('- Tools: ');
  });
});
