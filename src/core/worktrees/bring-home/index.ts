export {
  type AtStep,
  listApplications,
  settleApplications,
  undoApplication,
  writeApplication,
} from './application.ts';
export { branchOfCapture, type NewBranch } from './branch.ts';
export { type ForecastFile, type ForecastRequest, forecast, type Outcome } from './forecast.ts';
export { type LaneConflict, type LaneWork, laneConflicts } from './lane-conflicts.ts';
export { type ConflictReason, type Meeting, meet, type Side } from './sides.ts';
