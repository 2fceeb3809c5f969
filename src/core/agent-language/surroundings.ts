import type { FoundAgent } from '../agents/index.ts';
import type { Skill } from '../launch/index.ts';
import type { KnownModel } from '../models/index.ts';
import type { KnownTool } from '../tools/index.ts';

export type { KnownTool };
export type KnownSkill = Skill;

/** What is known on this machine when a definition is looked at. Absent lists: nobody has asked, and nothing is said of names. */
export interface Known {
  models?: readonly KnownModel[] | undefined;
  /** What Pi takes when nobody names one. */
  defaultModel?: string | null | undefined;
  tools?: readonly KnownTool[] | undefined;
  skills?: readonly KnownSkill[] | undefined;
  agents: readonly FoundAgent[];
}
