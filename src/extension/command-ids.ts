/** Identifiers that `package.json` and the code share; a test holds the two together. */
export const COMMANDS = {
  launchAgent: 'piLanes.launchAgent',
  openTranscript: 'piLanes.openTranscript',
  stopRun: 'piLanes.stopRun',
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
} as const;
export type CommandId = (typeof COMMANDS)[keyof typeof COMMANDS];

export const RUNS_VIEW = 'piLanes.runs';
export const TRANSCRIPT_SCHEME = 'pi-lanes-transcript';

/** Values of `viewItem` in `when` clauses. */
export const ITEM = {
  activeRun: 'run.active',
  waitingRun: 'run.waiting',
  lostRun: 'run.lost',
  unresponsiveRun: 'run.unresponsive',
  unknownRun: 'run.unknown',
  resumableRun: 'run.resumable',
  endedRun: 'run.ended',
  group: 'group',
  more: 'more',
} as const;

/** Built-in commands we call. */
export const BUILT_IN = {
  manageTrust: 'workbench.trust.manage',
  openSettings: 'workbench.action.openSettings',
  openRemoteSettings: 'workbench.action.openRemoteSettings',
  revealInOs: 'revealFileInOS',
  setContext: 'setContext',
} as const;
