/**
 * What each field of a definition does, and what it is when it is absent: for whoever writes one in an editor. In English; the
 * editor shows the translation of its language, which stands in l10n/ like all its texts. No imports: the script that collects
 * texts reads this.
 */
export interface AgentFieldText {
  about: string;
  /** What is when nobody says anything. */
  usual?: string;
  /** The same, as it would be written: not translated. */
  value?: string;
}

const NEEDED = 'none: every agent has one';
const FALSE = 'false';
const UNUSED = 'Nothing in Pi Lanes uses it yet.';

export const AGENT_FIELD_TEXTS = {
  name: { about: 'The name the agent is launched by.', usual: NEEDED },
  description: { about: 'What it does and when to use it, for people and models that choose an agent.', usual: NEEDED },
  package: { about: 'Stands in front of the name, with a dot between them: tools.reviewer.' },
  aliases: { about: 'Other names it can be launched by, as long as no other agent has them.' },
  alias: { about: 'Another spelling of aliases.' },
  tools: {
    about: 'The tools it may use; with nothing behind the colon, none.',
    usual: 'the tools that Pi offers',
  },
  excludeTools: { about: 'Tools it may not use, of those it would have.' },
  allowNestedSubagents: { about: 'Whether it may launch agents itself.', value: FALSE },
  model: {
    about: 'The model it runs on: provider/id, with an optional :level; inherit for the one of its parent.',
    usual: 'the default of the settings, else the model of the parent, else that of Pi',
  },
  fallbackModels: {
    about: 'Models that are tried in this order when the provider fails before any tool was called.',
    usual: 'none',
  },
  fast: { about: 'Whether to ask the provider for its faster way of answering.', value: FALSE },
  thinking: {
    about:
      'How much the model thinks; false asks for no level at all. A level behind the name of the model counts before it.',
    usual: 'the level of the settings, else that of Pi',
  },
  systemPromptMode: {
    about: 'Whether the prompt below takes the place of the system prompt of Pi, or stands behind it.',
    value: 'replace',
  },
  inheritProjectContext: {
    about: 'Whether it is told what files like AGENTS.md of the project say.',
    value: FALSE,
  },
  inheritGlobalContext: {
    about: 'Whether it is told the AGENTS.md of the agent folder as well. Only with inheritProjectContext.',
    value: FALSE,
  },
  inheritSkills: { about: 'Whether it has the skills that Pi finds.', value: FALSE },
  defaultContext: {
    about: 'Whether it begins with an empty conversation, or with a copy of the one of its parent.',
    value: 'fresh',
  },
  async: { about: 'Whether whoever launches it waits. Every run is detached, so it makes no difference here.' },
  timeoutMs: { about: 'Milliseconds it may work before it is stopped; 1800000 are 30 minutes.', value: '1800000' },
  toolTimeoutMs: { about: 'Milliseconds one call of a tool may take.', usual: 'no limit' },
  acceptance: { about: 'What has to be shown before its work counts as done.', usual: 'nothing' },
  acceptanceRole: { about: 'Whether it only reads or also writes: one that reads keeps no notes of progress.' },
  skills: { about: 'Skills it is shown: their descriptions, and where to read them.', usual: 'none' },
  skill: { about: 'Another spelling of skills.' },
  skillPath: { about: 'Skills, or folders of skills, that are looked through first. ./ begins at this file.' },
  extensions: {
    about: 'Extensions of Pi it is started with; with nothing behind the colon, none. ./ begins at this file.',
    usual: 'those that Pi finds',
  },
  subagentOnlyExtensions: { about: 'Extensions of Pi it is started with beside the others. ./ begins at this file.' },
  mutationTools: { about: `Tools that count as changing something. ${UNUSED}` },
  output: {
    about: 'The file its answer is written to; a relative path begins in the folder of the run.',
    usual: 'none',
  },
  outputMode: { about: 'Whether its answer is told whole, or only where the file with it lies.', value: 'inline' },
  defaultReads: {
    about: 'Files it is told to read first, by the folder it works in; those that are missing are left out.',
  },
  defaultProgress: { about: 'Whether it keeps notes of its progress in a file of the run.', value: FALSE },
  interactive: { about: `Whether it talks with a person. ${UNUSED}`, value: FALSE },
  maxSubagentDepth: { about: `How deep agents may be launched below it. ${UNUSED}` },
  completionGuard: { about: `Whether an end without any change is told. ${UNUSED}`, value: 'true' },
  toolBudget: {
    about:
      'How many calls of tools it may make: from soft on it is told to finish, beyond hard those of block are refused.',
    usual: 'no limit',
  },
  permission: { about: 'Another spelling of permissions.' },
  permissions: {
    about: 'For each tool allow, ask (a person answers each call) or deny. Not for bash and tools of coordination.',
    value: 'allow',
  },
  memory: { about: 'The folder of its memory: the beginning of MEMORY.md there is part of its prompt.', usual: 'none' },
  runner: { about: 'The program its work is done by.', value: 'pi' },
  advertise: { about: `Whether models are told of it without asking. ${UNUSED}`, value: FALSE },
} as const satisfies Record<string, AgentFieldText>;

export type AgentFieldName = keyof typeof AGENT_FIELD_TEXTS;
