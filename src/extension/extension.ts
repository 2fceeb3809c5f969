/** Activation: everything is registered here, nothing is scanned, nothing is started. See docs/startup-flow.md. */
import { delimiter, join } from 'node:path';
import * as vscode from 'vscode';
import { Toolbox } from '../client/index.ts';
import { ScriptValidator } from '../core/workflow/index.ts';
import { Cleaning } from './cleaning.ts';
import { TRANSCRIPT_SCHEME } from './command-ids.ts';
import { registerCommands } from './commands/index.ts';
import { windowSettings } from './configuration.ts';
import {
  AgentChecks,
  AgentNames,
  FindingDocs,
  registerAgentLanguage,
  registerWorkflowLanguage,
  WorkflowChecks,
} from './editor/index.ts';
import { DraftStore } from './launch/draft.ts';
import { TaskDocument } from './launch/task-document.ts';
import { Workplaces } from './launch/workplaces.ts';
import { AgentDocuments } from './library/agent-documents.ts';
import { LibraryModel } from './library/library-model.ts';
import { Notices } from './notices.ts';
import { TranscriptPanels } from './panels/transcript/transcript-panels.ts';
import { Readiness } from './readiness.ts';
import { ActiveFilter } from './runs/active-filter.ts';
import { markReadAsSeen } from './runs/mark-read-as-seen.ts';
import { RunsInHand } from './runs/runs-in-hand.ts';
import { RunsModel } from './runs/runs-model.ts';
import { SeenRuns } from './runs/seen-runs.ts';
import type { Services } from './services.ts';
import { createStatusBarItem } from './status-bar.ts';
import { TranscriptDocuments } from './transcripts/transcript-documents.ts';
import { LibraryTree } from './trees/library/library-tree.ts';
import { RunsTree } from './trees/runs/runs-tree.ts';
import { PlanDocuments } from './workflows/plan-documents.ts';
import { ResultDocuments } from './workflows/result-documents.ts';
import { ScriptKeys } from './workflows/script-keys.ts';

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Pi Lanes', { log: true });
  const toolbox = new Toolbox({
    env: process.env,
    distDirectory: vscode.Uri.joinPath(context.extensionUri, 'dist').fsPath,
    client: { kind: 'vscode', version: PI_LANES_VERSION },
    overrides: windowSettings,
  });
  const runs = new RunsModel(toolbox, log);
  const inHand = new RunsInHand();
  const seen = new SeenRuns(context.workspaceState);
  const filter = new ActiveFilter(context.workspaceState);
  const tree = new RunsTree(runs, seen, filter);
  const drafts = new DraftStore(context.workspaceState);
  const workplaces = new Workplaces(context.workspaceState);
  const taskDocument = new TaskDocument(drafts, workplaces, context.storageUri);
  const readiness = new Readiness(toolbox, runs, context.globalState, log);
  const transcripts = new TranscriptDocuments(toolbox.root.projects);
  const panels: TranscriptPanels = new TranscriptPanels(context.extensionUri, () => services, log);
  const names = new AgentNames(toolbox);
  const agents = new AgentChecks({ toolbox, names, docs: new FindingDocs(context.extensionUri, 'agents.md'), log });
  const workflows = new WorkflowChecks({
    validator: new ScriptValidator({ worker: join(toolbox.distDirectory, 'validate-worker.mjs') }),
    agents: async (uri) =>
      (await agents.recentAgents(vscode.workspace.getWorkspaceFolder(uri)?.uri ?? parentOf(uri))).agents,
    docs: new FindingDocs(context.extensionUri, 'script-api.md'),
    log,
  });
  const libraryModel = new LibraryModel(agents, workflows, log);
  const library = new LibraryTree(libraryModel, readiness);
  const agentDocuments = new AgentDocuments();
  const plans = new PlanDocuments();
  const results = new ResultDocuments(toolbox.root.projects);
  const services: Services = {
    toolbox,
    owner: { kind: 'vscode', id: vscode.env.sessionId },
    runs,
    inHand,
    seen,
    filter,
    tree,
    drafts,
    taskDocument,
    workplaces,
    readiness,
    panels,
    agents,
    workflows,
    libraryModel,
    library,
    agentDocuments,
    plans,
    results,
    log,
    state: context.workspaceState,
  };
  context.subscriptions.push(
    log,
    runs,
    inHand,
    seen,
    filter,
    tree,
    drafts,
    taskDocument,
    workplaces,
    readiness,
    panels,
    transcripts,
    names,
    agents,
    agents.onDidChangeAgents(() => workflows.agentsChanged()),
    workflows,
    registerAgentLanguage(agents, names, toolbox.home),
    registerWorkflowLanguage(workflows, workplaces),
    libraryModel,
    library,
    agentDocuments,
    plans,
    results,
    new ScriptKeys(),
    vscode.workspace.registerTextDocumentContentProvider(TRANSCRIPT_SCHEME, transcripts),
    markReadAsSeen(runs, seen),
    createStatusBarItem(runs, seen),
    registerCommands(services),
    new Notices(services, runs),
    new Cleaning(toolbox, log),
  );
  // After activation: which projects this window belongs to, and their newest runs.
  setImmediate(() => {
    void runs.ready();
    agents.lookSoon();
    void putCommandOnPath(context, toolbox);
  });
}

/** The folder of a script that lies in none of the workspace. */
function parentOf(uri: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(uri, '..');
}

/**
 * `pi-lanes` in integrated terminals: they get the folder with its starter in front of their `PATH`, and the Node that was
 * found for agents, because a shell's own may be too old.
 */
async function putCommandOnPath(context: vscode.ExtensionContext, toolbox: Toolbox): Promise<void> {
  const folder = vscode.Uri.joinPath(context.extensionUri, 'dist', 'bin').fsPath;
  const variables = context.environmentVariableCollection;
  variables.description = vscode.l10n.t('Adds the command pi-lanes');
  variables.prepend('PATH', `${folder}${delimiter}`);
  const node = await toolbox.node().catch(() => undefined);
  if (node && !node.electron) variables.replace('PI_LANES_EDITOR_NODE', node.file);
  else variables.delete('PI_LANES_EDITOR_NODE');
}
