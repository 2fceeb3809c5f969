/** Every command of the extension, with its identifier. */
import * as vscode from 'vscode';
import { BUILT_IN, COMMANDS, type CommandId, WALKTHROUGH } from '../command-ids.ts';
import { showError } from '../messages.ts';
import type { Services } from '../services.ts';
import { deleteAgent, disableAgent, enableAgent, resetAgent, undoAgentChange } from './change-agents.ts';
import { forceStopChosenRun, interruptChosenRun, stopChosenChild, stopChosenRun } from './end-run.ts';
import { clearFilter, filterRuns } from './filter-runs.ts';
import { findInTranscripts } from './find-in-transcripts.ts';
import { installPi } from './install-pi.ts';
import { launchAgent } from './launch-agent.ts';
import { launchOnFile, launchOnProblems, launchOnSelection } from './launch-on.ts';
import { copyAgentName, launchLibraryAgent, openDefinition, revealDefinition } from './library-commands.ts';
import { ofRow } from './library-row.ts';
import { markAllSeen, markRunSeen } from './mark-seen.ts';
import { duplicateAgent, ejectAgent, newAgent } from './new-agent.ts';
import { newWorkflow } from './new-workflow.ts';
import { openPi } from './open-pi.ts';
import { openResult } from './open-result.ts';
import { resumeChosenRun } from './resume-run.ts';
import { copyRunId, revealRunFiles } from './run-commands.ts';
import { runDoctor } from './run-doctor.ts';
import { chooseWorkflowWorkplace, runWorkflow } from './run-workflow.ts';
import { answerChosenQuestion, followUpChosenRun, steerChosenRun } from './talk-to-run.ts';
import { chooseTaskModel, chooseTaskWorkplace, discardTask, launchTask, showTaskPlan } from './task-commands.ts';
import {
  exportTranscript,
  findInTranscript,
  openSession,
  openTranscript,
  openTranscriptText,
} from './transcript-commands.ts';
import { validateWorkflow } from './validate-workflow.ts';
import { copyWorktreePath, openWorktree, openWorktreeTerminal, revealWorktree } from './worktree-commands.ts';

/** Menus give the row or file that was clicked, and all that are selected beside it; `count`: how many things were given. */
type Handler = (services: Services, clicked: unknown, selected: unknown, count: number) => Promise<void> | void;

const HANDLERS: Record<CommandId, Handler> = {
  [COMMANDS.launchAgent]: launchAgent,
  [COMMANDS.openTranscript]: openTranscript,
  [COMMANDS.openTranscriptText]: openTranscriptText,
  [COMMANDS.openSession]: openSession,
  [COMMANDS.exportTranscript]: exportTranscript,
  [COMMANDS.findInTranscript]: findInTranscript,
  [COMMANDS.findInTranscripts]: findInTranscripts,
  [COMMANDS.stopRun]: stopChosenRun,
  [COMMANDS.stopChild]: stopChosenChild,
  [COMMANDS.steerRun]: steerChosenRun,
  [COMMANDS.followUpRun]: followUpChosenRun,
  [COMMANDS.interruptRun]: interruptChosenRun,
  [COMMANDS.resumeRun]: resumeChosenRun,
  [COMMANDS.forceStopRun]: forceStopChosenRun,
  [COMMANDS.answerQuestion]: answerChosenQuestion,
  [COMMANDS.copyRunId]: copyRunId,
  [COMMANDS.revealRunFiles]: revealRunFiles,
  [COMMANDS.refreshRuns]: (services) => services.runs.refresh(),
  [COMMANDS.showMoreRuns]: (services) => services.runs.showMore(),
  [COMMANDS.showOutput]: (services) => services.log.show(),
  [COMMANDS.runDoctor]: runDoctor,
  [COMMANDS.filterRuns]: filterRuns,
  [COMMANDS.clearFilter]: clearFilter,
  [COMMANDS.markRunSeen]: markRunSeen,
  [COMMANDS.markAllSeen]: markAllSeen,
  [COMMANDS.launchOnSelection]: launchOnSelection,
  [COMMANDS.launchOnFile]: launchOnFile,
  [COMMANDS.launchOnFolder]: launchOnFile,
  [COMMANDS.launchOnProblems]: launchOnProblems,
  [COMMANDS.launchTask]: launchTask,
  [COMMANDS.chooseTaskModel]: chooseTaskModel,
  [COMMANDS.chooseTaskWorkplace]: chooseTaskWorkplace,
  [COMMANDS.showTaskPlan]: showTaskPlan,
  [COMMANDS.discardTask]: discardTask,
  [COMMANDS.installPi]: installPi,
  [COMMANDS.openPi]: openPi,
  [COMMANDS.validateWorkflow]: ofRow(validateWorkflow),
  [COMMANDS.runWorkflow]: ofRow(runWorkflow),
  [COMMANDS.chooseWorkflowWorkplace]: chooseWorkflowWorkplace,
  [COMMANDS.openResult]: openResult,
  [COMMANDS.newAgent]: newAgent,
  [COMMANDS.newWorkflow]: newWorkflow,
  [COMMANDS.launchLibraryAgent]: ofRow(launchLibraryAgent),
  [COMMANDS.openDefinition]: ofRow(openDefinition),
  [COMMANDS.revealDefinition]: ofRow(revealDefinition),
  [COMMANDS.duplicateAgent]: ofRow(duplicateAgent),
  [COMMANDS.ejectAgent]: ofRow(ejectAgent),
  [COMMANDS.disableAgent]: ofRow(disableAgent),
  [COMMANDS.enableAgent]: ofRow(enableAgent),
  [COMMANDS.deleteAgent]: ofRow(deleteAgent),
  [COMMANDS.resetAgent]: ofRow(resetAgent),
  [COMMANDS.undoAgentChange]: undoAgentChange,
  [COMMANDS.copyAgentName]: ofRow(copyAgentName),
  [COMMANDS.refreshLibrary]: (services) => services.libraryModel.refresh(),
  [COMMANDS.openWorktree]: openWorktree,
  [COMMANDS.openWorktreeTerminal]: openWorktreeTerminal,
  [COMMANDS.revealWorktree]: revealWorktree,
  [COMMANDS.copyWorktreePath]: copyWorktreePath,
  [COMMANDS.openWalkthrough]: async (services) => {
    if (vscode.workspace.isTrusted) void services.readiness.look();
    await vscode.commands.executeCommand(BUILT_IN.openWalkthrough, WALKTHROUGH, false);
    await services.readiness.tellAgain();
  },
};

/** An error of a command is shown with its next step and logged; it never escapes. */
export function registerCommands(services: Services): vscode.Disposable {
  return vscode.Disposable.from(
    ...Object.entries(HANDLERS).map(([id, handler]) =>
      vscode.commands.registerCommand(id, async (...given: unknown[]) => {
        try {
          await handler(services, given[0], given[1], given.length);
        } catch (error) {
          showError(error, services.log);
        }
      }),
    ),
  );
}
