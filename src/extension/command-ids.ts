/** Identifiers that `package.json` and the code share; a test holds the two together. */
export const COMMANDS = {
  launchAgent: 'piLanes.launchAgent',
  openTranscript: 'piLanes.openTranscript',
  openTranscriptText: 'piLanes.openTranscriptText',
  openSession: 'piLanes.openSession',
  exportTranscript: 'piLanes.exportTranscript',
  findInTranscript: 'piLanes.findInTranscript',
  findInTranscripts: 'piLanes.findInTranscripts',
  stopRun: 'piLanes.stopRun',
  stopChild: 'piLanes.stopChild',
  steerRun: 'piLanes.steerRun',
  followUpRun: 'piLanes.followUpRun',
  interruptRun: 'piLanes.interruptRun',
  resumeRun: 'piLanes.resumeRun',
  forceStopRun: 'piLanes.forceStopRun',
  answerQuestion: 'piLanes.answerQuestion',
  copyRunId: 'piLanes.copyRunId',
  revealRunFiles: 'piLanes.revealRunFiles',
  refreshRuns: 'piLanes.refreshRuns',
  showMoreRuns: 'piLanes.showMoreRuns',
  showOutput: 'piLanes.showOutput',
  runDoctor: 'piLanes.runDoctor',
  filterRuns: 'piLanes.filterRuns',
  clearFilter: 'piLanes.clearFilter',
  markRunSeen: 'piLanes.markRunSeen',
  markAllSeen: 'piLanes.markAllSeen',
  launchOnSelection: 'piLanes.launchOnSelection',
  launchOnFile: 'piLanes.launchOnFile',
  launchOnFolder: 'piLanes.launchOnFolder',
  launchOnProblems: 'piLanes.launchOnProblems',
  launchTask: 'piLanes.launchTask',
  chooseTaskModel: 'piLanes.chooseTaskModel',
  chooseTaskWorkplace: 'piLanes.chooseTaskWorkplace',
  showTaskPlan: 'piLanes.showTaskPlan',
  discardTask: 'piLanes.discardTask',
  openWalkthrough: 'piLanes.openWalkthrough',
  installPi: 'piLanes.installPi',
  openPi: 'piLanes.openPi',
  validateWorkflow: 'piLanes.validateWorkflow',
  runWorkflow: 'piLanes.runWorkflow',
  chooseWorkflowWorkplace: 'piLanes.chooseWorkflowWorkplace',
  openResult: 'piLanes.openResult',
  newAgent: 'piLanes.newAgent',
  newWorkflow: 'piLanes.newWorkflow',
  launchLibraryAgent: 'piLanes.launchLibraryAgent',
  openDefinition: 'piLanes.openDefinition',
  revealDefinition: 'piLanes.revealDefinition',
  duplicateAgent: 'piLanes.duplicateAgent',
  ejectAgent: 'piLanes.ejectAgent',
  disableAgent: 'piLanes.disableAgent',
  enableAgent: 'piLanes.enableAgent',
  deleteAgent: 'piLanes.deleteAgent',
  resetAgent: 'piLanes.resetAgent',
  undoAgentChange: 'piLanes.undoAgentChange',
  copyAgentName: 'piLanes.copyAgentName',
  refreshLibrary: 'piLanes.refreshLibrary',
  openWorktree: 'piLanes.openWorktree',
  openWorktreeTerminal: 'piLanes.openWorktreeTerminal',
  revealWorktree: 'piLanes.revealWorktree',
  copyWorktreePath: 'piLanes.copyWorktreePath',
} as const;
export type CommandId = (typeof COMMANDS)[keyof typeof COMMANDS];

/** As the built-in command names it: the extension and the walkthrough. */
export const WALKTHROUGH = 'pi-lanes.pi-lanes#start';
export const RUNS_VIEW = 'piLanes.runs';
export const LIBRARY_VIEW = 'piLanes.library';
/** The language of tasks that are written in an editor. */
export const TASK_LANGUAGE = 'pi-lanes-task';
export const TRANSCRIPT_SCHEME = 'pi-lanes-transcript';
/** Panels with transcripts. */
export const TRANSCRIPT_VIEW = 'piLanes.transcript';
/** Long texts out of transcripts. */
export const BODY_SCHEME = 'pi-lanes-body';
/** What runs came to, and what workflows are about to do. */
export const RESULT_SCHEME = 'pi-lanes-result';
export const PLAN_SCHEME = 'pi-lanes-plan';
/** Agents that come with the product: they have no file that could be opened. */
export const AGENT_SCHEME = 'pi-lanes-agent';

/** Values of `viewItem` in `when` clauses. */
export const ITEM = {
  activeRun: 'run.active',
  waitingRun: 'run.waiting',
  lostRun: 'run.lost',
  /** It was asked to end. */
  endingRun: 'run.ending',
  unresponsiveRun: 'run.unresponsive',
  unknownRun: 'run.unknown',
  resumableRun: 'run.resumable',
  /** Failed, and nobody has looked at it. */
  unseenRun: 'run.unseen',
  endedRun: 'run.ended',
  activeWorkflow: 'workflow.active',
  waitingWorkflow: 'workflow.waiting',
  endingWorkflow: 'workflow.ending',
  lostWorkflow: 'workflow.lost',
  unresponsiveWorkflow: 'workflow.unresponsive',
  /** A limit has ended it: it can be continued. */
  resumableWorkflow: 'workflow.resumable',
  /** As `unseenRun`: one that can be continued, and one that cannot. */
  unseenWorkflow: 'workflow.unseen',
  unseenFinalWorkflow: 'workflow.final',
  endedWorkflow: 'workflow.ended',
  /** A child of a workflow. */
  activeChild: 'child.active',
  waitingChild: 'child.waiting',
  endingChild: 'child.ending',
  endedChild: 'child.ended',
  lane: 'lane',
  /** A stage without a child yet. */
  unstartedStage: 'stage',
  /** A command that waits for a person's consent. */
  askingHost: 'host.waiting',
  host: 'host.told',
  /** A worktree whose folder is there, and one whose folder is not, or not yet. */
  worktree: 'worktree.present',
  absentWorktree: 'worktree.absent',
  section: 'section',
  /** The section of what needs a person, with failures in it. */
  needsWithFailed: 'section.failed',
  project: 'project',
  problem: 'problem',
  more: 'more',
  /** Definitions of agents in the Library: of the person or the project; one that has taken the place of one that came along. */
  ownAgent: 'agent.own',
  replacingAgent: 'agent.replacing',
  /** It came along; settings have changed it. */
  bundledAgent: 'agent.bundled',
  changedAgent: 'agent.changed',
  disabledAgent: 'agent.disabled',
  disabledOwnAgent: 'agent.disabledOwn',
  /** It has mistakes; it came along and settings about it have some. */
  brokenAgent: 'agent.broken',
  brokenOverride: 'agent.overridden',
  /** It can only be looked at: a stronger one has its name, or it came along broken. */
  hiddenAgent: 'agent.hidden',
  script: 'script.right',
  faultyScript: 'script.faulty',
  ownGroup: 'group.own',
  scriptGroup: 'group.scripts',
  group: 'group.other',
  note: 'note',
} as const;

/** Context keys that `when` clauses ask for. */
export const CONTEXT = {
  /** Why the Runs view is empty (`EmptyReason`); not set when it is not. */
  empty: 'piLanes.runsEmpty',
  filtering: 'piLanes.runsFiltered',
  /** Node and Pi are there. */
  piFound: 'piLanes.piFound',
  /** Looked for and not found, or too old to be used. */
  piMissing: 'piLanes.piMissing',
  modelUsable: 'piLanes.modelUsable',
  /** This window has shown a run. */
  hasRun: 'piLanes.hasRun',
  /** Paths of the workflow scripts that are open, and of the folders whose scripts are workflows. */
  workflowScripts: 'piLanes.workflowScripts',
  workflowFolders: 'piLanes.workflowFolders',
} as const;

/** Behind a context key that completes a step of the walkthrough: a second key for the same, see `Readiness.tellAgain`. */
export const TOLD = '.told';

/** `filtered-older`: older runs, which have not been read, may match. */
export type EmptyReason = 'none' | 'filtered' | 'filtered-older' | 'project' | 'store';

/** Built-in commands we call. */
export const BUILT_IN = {
  manageTrust: 'workbench.trust.manage',
  newTerminal: 'workbench.action.terminal.new',
  open: 'vscode.open',
  openFolder: 'vscode.openFolder',
  openSettings: 'workbench.action.openSettings',
  openRemoteSettings: 'workbench.action.openRemoteSettings',
  openWalkthrough: 'workbench.action.openWalkthrough',
  revealInOs: 'revealFileInOS',
  revealInExplorer: 'revealInExplorer',
  setContext: 'setContext',
  showProblems: 'workbench.panel.markers.view.focus',
} as const;
