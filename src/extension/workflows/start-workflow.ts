/** The one way in which a workflow is started from the editor: checked, asked for its inputs, planned, and agreed to. */
import * as vscode from 'vscode';
import { offerWorktree, type PlannedWorkflow, planWorkflow, previewWorkflow, startRun } from '../../client/index.ts';
import { type ErrorValue, LanesError, type ScriptInputs, type TextRange } from '../../protocol/index.ts';
import { BUILT_IN, RUNS_VIEW } from '../command-ids.ts';
import { confirmWorkflowAbove, defaultModel, hostCommands } from '../configuration.ts';
import { inEditorLanguage } from '../editor/finding-words.ts';
import { toRange } from '../editor/script-ranges.ts';
import { chooseFolder } from '../launch/choose-folder.ts';
import { chooseWorkplace } from '../launch/choose-workplace.ts';
import { requireTrust } from '../launch/start-agent.ts';
import { agentsPlaceWords, type Workplace, workplaceFields } from '../launch/workplaces.ts';
import { offerSteps, plain } from '../messages.ts';
import type { Services } from '../services.ts';
import { askInputs } from './ask-inputs.ts';
import { planDocument } from './plan-document.ts';
import { confirmPlan, type PlanDecision } from './plan-pick.ts';
import { needsConsent, summaryOf } from './plan-words.ts';

const NO_INPUTS: ScriptInputs = { named: [], isWhole: false };

export async function startWorkflow(services: Services, document: vscode.TextDocument): Promise<void> {
  requireTrust();
  await save(document);
  if (!(await isRight(services, document))) return;
  const { outlook } = services.workflows.outline(document) ?? {};
  const script = document.getText();
  const folder = await chooseFolder(services.state, document.uri);
  if (!folder) return;
  const file = document.uri.fsPath;
  const title = vscode.l10n.t('Run {0}', vscode.workspace.asRelativePath(document.uri, false));
  const given = await askInputs(services.state, file, title, outlook?.inputs ?? NO_INPUTS);
  if (!given) return;
  for (;;) {
    const workplace = services.workplaces.of(folder.uri.toString(), 'workflow');
    const plan = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: vscode.l10n.t('Planning the workflow…') },
      () => planIn(services, folder, { script, file, workplace, ...given }),
    );
    const decision = await decide(services, { ...plan, workplace }, document);
    if (decision === 'leave') return;
    if (decision === 'workplace') {
      await chooseWorkplace(services, folder, 'workflow');
      continue;
    }
    // Whoever changed the script while its plan was read has not agreed to what stands there now.
    if (document.getText() === script) await start(services, plan.plan, workplace);
    else await startWorkflow(services, document);
    return;
  }
}

interface Asked {
  script: string;
  file: string;
  args?: unknown;
  workplace: Workplace;
}

/** `problem`: why its agents cannot work where they should. */
interface Planned {
  plan: PlannedWorkflow;
  problem: ErrorValue | null;
}

async function planIn(
  { toolbox, owner }: Services,
  folder: vscode.WorkspaceFolder,
  { script, file, args, workplace }: Asked,
): Promise<Planned> {
  const model = defaultModel(folder.uri);
  const cwd = folder.uri.fsPath;
  const plan = await planWorkflow(toolbox, {
    script,
    file,
    ...(args === undefined ? {} : { args }),
    cwd,
    fallbackRoot: cwd,
    owner,
    trust: 'approve',
    host: { mode: hostCommands(), globs: [] },
    ...workplaceFields(workplace),
    ...(model === undefined ? {} : { defaultModel: model }),
  });
  if (workplace.kind === 'folder') return { plan, problem: null };
  // Each of them would be refused, one after the other.
  const { refusal } = await offerWorktree(toolbox, cwd, plan.record.workflow.name, workplace.baseRef);
  return { plan, problem: refusal };
}

/** What runs is what stands on the disk, so that the run and the file never differ unseen. */
async function save(document: vscode.TextDocument): Promise<void> {
  if (!document.isDirty || (await document.save())) return;
  throw new LanesError({
    code: 'launch_invalid',
    message: vscode.l10n.t('The script could not be saved, so it was not started.'),
    hint: vscode.l10n.t('Save it first.'),
  });
}

/** Says the first error of a script that must fail, and goes there. */
async function isRight({ workflows }: Services, document: vscode.TextDocument): Promise<boolean> {
  const errors = (await workflows.check(document)).filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (!first) return true;
  await showPlace(document, first, { preserveFocus: false });
  const words = inEditorLanguage(first.words.message);
  const message =
    errors.length === 1
      ? vscode.l10n.t('The script was not started. Line {0}: {1}', first.line, words)
      : vscode.l10n.t('The script was not started: it has {0} errors. Line {1}: {2}', errors.length, first.line, words);
  void offerSteps(vscode.window.showErrorMessage, message, [
    {
      title: vscode.l10n.t('Show Problems'),
      run: () => vscode.commands.executeCommand(BUILT_IN.showProblems),
    },
  ]);
  return false;
}

async function decide(
  services: Services,
  { plan, problem, workplace }: Planned & { workplace: Workplace },
  document: vscode.TextDocument,
): Promise<PlanDecision> {
  const preview = previewWorkflow(plan);
  if (!problem && !needsConsent(preview, confirmWorkflowAbove(document.uri))) return 'start';
  const { runId, workflow } = plan.record;
  return confirmPlan({
    name: workflow.name,
    preview,
    workplace,
    problem,
    showDocument: () => services.plans.show(workflow.name, runId, planDocument(plan, preview)),
    showPlace: (range) => showPlace(document, range, { preserveFocus: true }),
  });
}

async function showPlace(
  document: vscode.TextDocument,
  range: TextRange,
  { preserveFocus }: { preserveFocus: boolean },
): Promise<void> {
  await vscode.window.showTextDocument(document, { selection: toRange(range), preserveFocus });
}

async function start(services: Services, plan: PlannedWorkflow, workplace: Workplace): Promise<void> {
  const { name } = plan.record.workflow;
  const where = workplace.kind === 'folder' ? [] : [plain(agentsPlaceWords(workplace))];
  const title = vscode.l10n.t(
    'Starting {0}: {1}',
    plain(name),
    [summaryOf(previewWorkflow(plan)), ...where].join(' · '),
  );
  const { runId, noScope } = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title },
    async () => {
      const launched = await startRun(services.toolbox, plan);
      await services.runs.noticeStarted();
      return launched;
    },
  );
  if (noScope !== undefined)
    void vscode.window.showWarningMessage(
      vscode.l10n.t('The runner was started without a scope of systemd of its own: {0}', plain(noScope)),
    );
  services.log.info(`Run ${runId} started: workflow ${name} in ${plan.record.cwd}`);
  await vscode.commands.executeCommand(`${RUNS_VIEW}.focus`, { preserveFocus: true });
  await services.tree.reveal(runId);
}
