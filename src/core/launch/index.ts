export { accessOf } from './launch-access.ts';
export { type Context, contextOf, type ParentSession } from './launch-context.ts';
export { checkToolRules, effectiveTools, mergeRules } from './launch-tools.ts';
export { type LookRequest, lookAround, progressFileOf, type Surroundings } from './look-around.ts';
export {
  DEFAULT_TIMEOUT_MS,
  DEFAULT_WAIT_MS,
  type LaunchCall,
  type LaunchInput,
  modelsOf,
  NOTHING_AROUND,
  type PlannedLaunch,
  planLaunch,
} from './plan-launch.ts';
export { promptOf, systemPromptOf } from './prompt.ts';
export { listSkills, type Skill, type SkillPlaces } from './skills.ts';
export { agentOf, settingsOf, usableIn } from './workflow-launch.ts';
