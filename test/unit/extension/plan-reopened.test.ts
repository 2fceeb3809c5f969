/** The plan of a workflow whose script is changed while a person reads it: what starts is what stands in the plan that was agreed to. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { bundledAgents, toContract } from '../../../src/core/agents/index.ts';
import { analyseScript } from '../../../src/core/workflow/analyse-script.ts';
import { Workplaces } from '../../../src/extension/launch/workplaces.ts';
import { PlanDocuments } from '../../../src/extension/workflows/plan-documents.ts';
import { startWorkflow } from '../../../src/extension/workflows/start-workflow.ts';
import { aWorkflow } from '../builders/workflow.ts';
import * as standIn from './vscode-stand-in.ts';

const editor = vi.hoisted(() => ({
  shown: [] as string[],
  closed: [] as ((document: { uri: { scheme: string; toString(): string } }) => void)[],
  started: [] as string[],
  plans: 0,
  /** What a person does with each plan that is shown. */
  answers: [] as (() => boolean | 'workplace')[],
  /** Where each plan was to have agents work. */
  workplaces: [] as unknown[],
  /** Why no worktree can be made. */
  refusal: null as object | null,
  problems: [] as unknown[],
}));

vi.mock('vscode', async () => {
  const standIn = await import('./vscode-stand-in.ts');
  const disposable = { dispose: () => undefined };
  const from = (parts: { scheme: string; path: string; query: string }) => ({
    ...parts,
    toString: () => `${parts.scheme}:${parts.path}?${parts.query}`,
  });
  return {
    ...standIn,
    Uri: { from },
    Disposable: { from: () => disposable },
    ProgressLocation: { Window: 10, Notification: 15 },
    commands: { executeCommand: async () => undefined },
    window: {
      ...standIn.window,
      withProgress: async (_: unknown, work: () => unknown) => work(),
      showTextDocument: async () => undefined,
    },
    workspace: {
      asRelativePath: () => 'look.workflow.js',
      registerTextDocumentContentProvider: () => disposable,
      onDidCloseTextDocument: (run: (typeof editor.closed)[number]) => {
        editor.closed.push(run);
        return disposable;
      },
      openTextDocument: async (uri: { toString(): string }) => {
        editor.shown.push(uri.toString());
        return uri;
      },
    },
  };
});
vi.mock('../../../src/extension/launch/start-agent.ts', () => ({ requireTrust: () => undefined }));
vi.mock('../../../src/extension/launch/choose-folder.ts', () => ({
  chooseFolder: async () => ({ uri: { fsPath: '/work', toString: () => 'file:///work' } }),
}));
vi.mock('../../../src/extension/launch/choose-workplace.ts', () => ({
  chooseWorkplace: async (services: { workplaces: Workplaces }) =>
    services.workplaces.save('file:///work', 'workflow', { kind: 'worktree', baseRef: 'main' }),
}));
vi.mock('../../../src/extension/workflows/ask-inputs.ts', () => ({ askInputs: async () => ({}) }));
vi.mock('../../../src/extension/configuration.ts', () => ({
  confirmWorkflowAbove: () => 0,
  defaultModel: () => undefined,
  hostCommands: () => 'ask',
}));
vi.mock('../../../src/extension/workflows/plan-pick.ts', () => ({
  confirmPlan: async (plan: { showDocument: () => Promise<unknown>; problem: unknown }) => {
    await plan.showDocument();
    editor.problems.push(plan.problem);
    const answer = editor.answers.shift()?.() ?? false;
    return answer === 'workplace' ? answer : answer ? 'start' : 'leave';
  },
}));
vi.mock('../../../src/client/index.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  offerWorktree: async () => ({ refusal: editor.refusal, head: null, refs: [] }),
  planWorkflow: async (
    _: unknown,
    { script, worktree, baseRef }: Record<'script' | 'baseRef', string> & { worktree?: true },
  ) => {
    editor.plans += 1;
    editor.workplaces.push({ worktree, baseRef });
    const agents = bundledAgents().map((agent) => ({ contract: toContract(agent), aliases: agent.aliases }));
    const record = { ...aWorkflow({ agents, script }), runId: `run-${editor.plans}` };
    return { record, analysis: analyseScript(script), usable: { models: [], defaultModel: null } };
  },
  startRun: async (_: unknown, { record }: { record: { runId: string; workflow: { script: string } } }) => {
    editor.started.push(`${record.runId}: ${record.workflow.script}`);
    return { runId: record.runId };
  },
}));

const scriptOf = (key: string) => `return (await runs.run('${key}', { agent: 'scout', task: 'x' })).output;`;

function opened(plans: PlanDocuments) {
  let text = scriptOf('old-key');
  const document = { isDirty: false, getText: () => text, uri: { fsPath: '/work/look.workflow.js' } };
  const services = {
    plans,
    toolbox: {},
    workplaces: new Workplaces(new standIn.Memento() as never),
    workflows: { check: async () => [], outline: () => undefined },
    runs: { noticeStarted: async () => undefined },
    tree: { reveal: async () => undefined },
    log: { info: () => undefined },
  };
  const change = (key: string) => {
    text = scriptOf(key);
  };
  return { change, start: () => startWorkflow(services as never, document as never) };
}

beforeEach(() => {
  editor.shown.length = 0;
  editor.started.length = 0;
  editor.plans = 0;
  editor.answers = [];
  editor.workplaces.length = 0;
  editor.problems.length = 0;
  editor.refusal = null;
});

describe('where agents work', () => {
  it('is planned anew after another place was chosen, kept for the next time, and what is started', async () => {
    const { start } = opened(new PlanDocuments());
    editor.answers = [() => 'workplace', () => true, () => true];
    await start();
    await start();
    const worktree = { worktree: true, baseRef: 'main' };
    expect(editor.workplaces).toEqual([{ worktree: undefined, baseRef: undefined }, worktree, worktree]);
    expect(editor.started).toEqual([`run-2: ${scriptOf('old-key')}`, `run-3: ${scriptOf('old-key')}`]);
    expect(editor.problems).toEqual([null, null, null]);
  });

  it('is told beforehand where it cannot be', async () => {
    const { start } = opened(new PlanDocuments());
    editor.refusal = { code: 'worktree_refused', message: 'no' };
    editor.answers = [() => 'workplace', () => false];
    await start();
    expect(editor.problems).toEqual([null, editor.refusal]);
    expect(editor.started).toEqual([]);
  });
});

describe('a plan', () => {
  const textOf = (plans: PlanDocuments, uri = '') => plans.provideTextDocumentContent({ toString: () => uri } as never);

  it('whose script changed before it was agreed to is made and shown again, and only the new one starts', async () => {
    const plans = new PlanDocuments();
    const { change, start } = opened(plans);
    editor.answers = [
      () => {
        change('new-key');
        return true;
      },
      () => true,
    ];
    await start();
    expect(editor.started).toEqual([`run-2: ${scriptOf('new-key')}`]);
    const [first, second] = editor.shown;
    expect(new Set(editor.shown).size).toBe(2);
    expect(textOf(plans, first)).toContain('old-key');
    expect(textOf(plans, second)).toContain('new-key');
    expect(textOf(plans, second)).not.toContain('old-key');
  });

  it('that is opened again after the script changed shows the script of now, beside the plan that is still open', async () => {
    const plans = new PlanDocuments();
    const { change, start } = opened(plans);
    editor.answers = [() => false, () => false];
    await start();
    change('new-key');
    await start();
    expect(editor.started).toEqual([]);
    const [first, second] = editor.shown;
    expect(textOf(plans, second)).toContain('new-key');
    expect(textOf(plans, first)).toContain('old-key');
    for (const close of editor.closed) close({ uri: { scheme: 'pi-lanes-plan', toString: () => first ?? '' } });
    expect(textOf(plans, second)).toContain('new-key');
  });
});
