export { agentForLaunch } from './agents.ts';
export {
  type AppliedWork,
  applyWork,
  type BringOptions,
  branchOfWork,
  conflictsOfRun,
  forecastWork,
  undoWork,
  type WorkForecast,
} from './bring-home.ts';
export { childNamed } from './child-named.ts';
export { type CleanUpRequest, cleanUp } from './clean-up.ts';
export {
  type Applied,
  type ApplyOptions,
  applyCleanup,
  type Finished,
  finishCleanup,
} from './cleanup-apply.ts';
export { cleanupAction, type PlanOptions, planCleanup, type SavedPlan } from './cleanup-plan.ts';
export { continueWorkflow, mayContinue, type NewBounds, planContinue } from './continue-workflow.ts';
export { answerQuestion, type Ended, interruptRun, steerRun, stopRun } from './control.ts';
export { discardWorktree, foreseeDiscard } from './discard.ts';
export { type Check, examine } from './doctor.ts';
export { type ForceStopped, forceStopRun, mayNeedForce } from './force-stop.ts';
export { installOfferedPi, type PiInstallOffer, prepareInstall } from './install-pi.ts';
export { knownNames, skillsFor, unknownNamesOf } from './known-names.ts';
export { type LaneRecorded, type LaneStatus, laneStatus, recordMerge, recordSupersession } from './lanes.ts';
export { type Launched, launch, launchNamedWorkflow, launchWorkflow, startRun } from './launch.ts';
export {
  DEFAULT_TIMEOUT_MS,
  foreseeLaunch,
  type LaunchPlan,
  type LaunchRequest,
  type PlannedRun,
  planLaunch,
} from './plan.ts';
export {
  type NamedRequest,
  type PlannedWorkflow,
  planNamedWorkflow,
  planWorkflow,
  type WorkflowRequest,
} from './plan-workflow.ts';
export {
  type PreviewedAgent,
  type PreviewedChild,
  type PreviewedChildren,
  type PreviewedModel,
  previewWorkflow,
  type WorkflowPreview,
} from './preview-workflow.ts';
export { type ReachedLimit, type ReachedLimits, reachedLimits } from './reached-limits.ts';
export { recoverRun } from './recover.ts';
export { restore, worktreeNamed } from './restore.ts';
export { readResult, readResultText, TranscriptFollower } from './result.ts';
export { GO_ON, isResumable, type Resumed, type ResumeRequest, resumeKind, resumeRun } from './resume.ts';
export { RunFollower, type RunSnapshot, readSnapshot } from './run-snapshot.ts';
export { allStores, findRun, RunStore } from './run-store.ts';
export { RunWatcher, waitForEnd } from './run-watcher.ts';
export { piLimits, type SettingOverrides, Toolbox, type Tools } from './toolbox.ts';
export {
  type ConsoleLines,
  type Found,
  readWorkflowReport,
  type TraceRows,
  type WorkflowReport,
} from './workflow-report.ts';
export { lookAtWorkflowResult, readWorkflowResult, type WorkflowResultFile } from './workflow-result.ts';
export { WorktreeDoor } from './worktree-door.ts';
export { type WorktreeFate, worktreeFate } from './worktree-fate.ts';
export { offerWorktree, type WorktreeOffer } from './worktree-offer.ts';
export {
  type OverviewOptions,
  type RepositoryOverview,
  readOverview,
  type WorktreeOverview,
  type WorktreeOwnerView,
} from './worktree-overview.ts';
export { childLiveness, livenessOf, type ProjectWorktrees, readWorktrees, type WorktreeRow } from './worktrees.ts';
