export { type Caller, stopRun } from './control.ts';
export { type Check, examine } from './doctor.ts';
export { type Launched, launch, startRun } from './launch.ts';
export { DEFAULT_TIMEOUT_MS, type LaunchPlan, type LaunchRequest, planLaunch } from './plan.ts';
export { readResultText, TranscriptFollower } from './result.ts';
export { type RunSnapshot, readSnapshot } from './run-snapshot.ts';
export { allStores, findRun, RunStore } from './run-store.ts';
export { RunWatcher, waitForEnd } from './run-watcher.ts';
export { piLimits, Toolbox, type Tools } from './toolbox.ts';
