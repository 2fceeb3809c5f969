/** The plan of a workflow whose script is changed while a person reads it: what starts is what stands in the plan that was agreed to. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { bundledAgents, toContract } from '../../../src/core/agents/index.ts';
import { analyseScript } from '../../../src/core/workflow/analyse-script.ts';
import { PlanDocuments } from '../../../src/extension/workflows/plan-documents.ts';
import { startWorkflow } from '../../../src/extension/workflows/start-workflow.ts';
import { aWorkflow } from '../builders/workflow.ts';

const editor = vi.hoisted(() => ({
  shown: [] as string[],
  closed: [] as ((document: { uri: { scheme: string; toString(): string } }) => void)[],
  started: [] as string[],
  plans: 0,
  /** What a person does with each plan that is shown. */
  answers: [] as (() => boolean | Promise<boolean>)[],
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
  chooseFolder: async () => ({ uri: { fsPath: '/work' } }),
}));
vi.mock('../../../src/extension/workflows/ask-inputs.ts', () => ({ askInputs: async () => ({}) }));
vi.mock('../../../src/extension/configuration.ts', () => ({
  confirmWorkflowAbove: () => 0,
  defaultModel: () => undefined,
  hostCommands: () => 'ask',
}));
vi.mock('../../../src/extension/workflows/plan-pick.ts', () => ({
  confirmPlan: async ({ showDocument }: { showDocument: () => Promise<unknown> }) => {
    await showDocument();
    return editor.answers.shift()?.() ?? false;
  },
}));
vi.mock('../../../src/client/index.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  planWorkflow: async (_: unknown, { script }: { script: string }) => {
    editor.plans += 1;
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
