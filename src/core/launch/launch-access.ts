/** What a planned child may use, also for plans of earlier versions, which left it to the agent. Pure. */
import { ANSWER_TOOL, type ChildPlan } from '../../protocol/index.ts';

export interface Access {
  /** With the tool it answers with; absent: what Pi offers. */
  tools: readonly string[] | undefined;
  extensions: NonNullable<ChildPlan['extensions']>;
  skills: NonNullable<ChildPlan['skills']>;
}

export function accessOf({ agent, tools, extensions, skills, outputSchema }: ChildPlan): Access {
  const list = tools ? tools.list : agent.tools;
  return {
    tools: list && outputSchema ? [...list, ANSWER_TOOL] : list,
    extensions: extensions ?? { found: true, paths: [] },
    skills: skills ?? { found: agent.inheritSkills, paths: [] },
  };
}
