/** The door of the scripted model: what tests and the demo may use. */
export { demoTeam } from './demo-team.ts';
export type { LoggedRequest } from './request-log.ts';
export { builtInScripts, UNICODE_SAMPLE } from './scripts.ts';
export { type ScriptedModel, type ScriptedModelOptions, startScriptedModel } from './server.ts';
export { type Script, type ScriptStep, type Step, script } from './step.ts';
