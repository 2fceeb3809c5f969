/** Every command of the extension, with its identifier. */
import * as vscode from 'vscode';
import { COMMANDS, type CommandId } from '../command-ids.ts';
import { showError } from '../messages.ts';
import type { Services } from '../services.ts';
import { forceStopChosenRun, interruptChosenRun, stopChosenRun } from './end-run.ts';
import { clearFilter, filterRuns } from './filter-runs.ts';
import { launchAgent } from './launch-agent.ts';
import { markAllSeen, markRunSeen } from './mark-seen.ts';
import { resumeChosenRun } from './resume-run.ts';
import { copyRunId, openTranscript, revealRunFiles } from './run-commands.ts';
import { runDoctor } from './run-doctor.ts';
import { answerChosenQuestion, followUpChosenRun, steerChosenRun } from './talk-to-run.ts';

type Handler = (services: Services, argument: unknown) => Promise<void> | void;

const HANDLERS: Record<CommandId, Handler> = {
  [COMMANDS.launchAgent]: launchAgent,
  [COMMANDS.openTranscript]: openTranscript,
  [COMMANDS.stopRun]: stopChosenRun,
  [COMMANDS.steerRun]: steerChosenRun,
  [COMMANDS.followUpRun]: followUpChosenRun,
  [COMMANDS.interruptRun]: interruptChosenRun,
  [COMMANDS.resumeRun]: resumeChosenRun,
  [COMMANDS.forceStopRun]: forceStopChosenRun,
  [COMMANDS.answerQuestion]: answerChosenQuestion,
  [COMMANDS.copyRunId]: copyRunId,
  [COMMANDS.revealRunFiles]: revealRunFiles,
  [COMMANDS.refreshRuns]: (services) => services.runs.reload(),
  [COMMANDS.showMoreRuns]: (services) => services.runs.showMore(),
  [COMMANDS.showOutput]: (services) => services.log.show(),
  [COMMANDS.runDoctor]: runDoctor,
  [COMMANDS.filterRuns]: filterRuns,
  [COMMANDS.clearFilter]: clearFilter,
  [COMMANDS.markRunSeen]: markRunSeen,
  [COMMANDS.markAllSeen]: markAllSeen,
};

/** An error of a command is shown with its next step and logged; it never escapes. */
export function registerCommands(services: Services): vscode.Disposable {
  return vscode.Disposable.from(
    ...Object.entries(HANDLERS).map(([id, handler]) =>
      vscode.commands.registerCommand(id, async (argument: unknown) => {
        try {
          await handler(services, argument);
        } catch (error) {
          showError(error, services.log);
        }
      }),
    ),
  );
}
