/**
 * Every text of a problem with the definition of an agent, or with what is looked through for agents, by its code, or by
 * `code:variant` where one code has several. `docs/agents.md` documents the codes. Places in braces are filled with the
 * problem's parameters. In English for the command line and for programs; the editor shows the translation of its language,
 * which stands in l10n/ like all texts of the editor. No imports: the script that collects texts reads this.
 */
export interface AgentText {
  message: string;
  /** The next step. */
  hint: string;
}

const MEND = 'Correct it, or remove the line.';
const QUOTE = 'Put the value in quotes.';
const TRUE_FALSE = 'Write true or false.';
const ELSEWHERE = 'Write one, or move the file out of the folder of agents.';

export const AGENT_TEXTS = {
  // The file
  file_unreadable: {
    message: 'The file cannot be read: {reason}.',
    hint: 'Check its permissions, or move it out of the folder of agents.',
  },
  file_not_text: {
    message: 'The file is no text in UTF-8.',
    hint: 'Save it as UTF-8, or move it out of the folder of agents.',
  },
  file_too_large: {
    message: 'The file has {size} bytes; the definition of an agent has at most {max}.',
    hint: 'Make it shorter: all of it would be sent with every request to the model.',
  },
  name_duplicate: {
    message: 'There is another agent "{name}" in this folder of agents, {other}; that one is used.',
    hint: 'Rename one of them.',
  },
  // The header
  header_missing: { message: 'The file has no header between two lines of ---, so it is no agent.', hint: ELSEWHERE },
  'header_missing:empty': { message: 'The file is empty, so it is no agent.', hint: ELSEWHERE },
  header_unclosed: {
    message: 'The header has no end.',
    hint: 'Write a line of --- behind its last field.',
  },
  header_not_fields: {
    message: 'The header consists of no fields.',
    hint: 'Write one field per line, as in "name: reviewer".',
  },
  header_line_ignored: {
    message: 'This line of the header is no field, and is not used.',
    hint: 'Remove it, begin it with # to make it a comment, or indent it to make it part of the field above.',
  },
  // Values as YAML
  yaml_invalid: { message: 'The value of {field} is not valid YAML: {reason}.', hint: MEND },
  yaml_mended: {
    message: 'The value of {field} is not valid YAML ({reason}); it is used as it stands here.',
    hint: QUOTE,
  },
  yaml_differs: {
    message: 'Programs that do not read YAML take the value of {field} to be {value}.',
    hint: 'Nothing has to be done for Pi Lanes. For other programs write the value plainly, lists as "a, b".',
  },
  // Fields
  field_missing: { message: 'The agent has no {field}.', hint: 'Write it into the header, as in "{field}: …".' },
  field_duplicate: {
    message: 'The field {field} stands in the header twice; this one is used.',
    hint: 'Remove the other one.',
  },
  field_conflict: {
    message: '{field} and {other} mean the same, and both stand in the header.',
    hint: 'Remove one of them.',
  },
  field_unknown: {
    message: 'There is no field {field}; it is not used.',
    hint: 'Did you mean {meant}?',
  },
  'field_invalid:text': { message: '{field} must be a text.', hint: QUOTE },
  'field_invalid:list': {
    message: '{field} must be a list of texts.',
    hint: 'Write "a, b", or one line with "- a" for each.',
  },
  'field_invalid:boolean': { message: '{field} is {value}.', hint: TRUE_FALSE },
  'field_invalid:whole': { message: '{field} is {value}.', hint: 'It must be a whole number from {least} to {most}.' },
  'field_invalid:option': { message: '{field} is {value}.', hint: 'It must be one of {allowed}.' },
  'field_invalid:shape': {
    message: '{field} cannot be used: {faults}.',
    hint: 'The field is described in docs/agents.md.',
  },
  'field_invalid:name': {
    message: 'The name {value} cannot be used.',
    hint: 'A name has 1 to {max} characters, none of them a slash, a backslash or a control character, and is neither "." nor "..".',
  },
  'field_invalid:package': {
    message: 'The package {value} cannot be used.',
    hint: 'It consists of parts like "my-tools", with dots between them: letters, digits and "-".',
  },
  'field_invalid:permission-tool': {
    message: 'The tool {value} cannot have a permission.',
    hint: 'Leave it out. What bash may do is decided by whether it stands in tools; tools of coordination are always allowed.',
  },
  'field_invalid:adapter-args': {
    message: 'runner.args cannot be given with an adapter.',
    hint: 'Remove args: the adapter makes them.',
  },
  'field_invalid:beside-runner': {
    message: '{field} is of no use to the runner {runner}.',
    hint: 'Remove it: that program has tools and models of its own.',
  },
  'field_ignored:boolean': { message: '{field} is {value}, which counts as {used}.', hint: TRUE_FALSE },
  'field_ignored:option': { message: '{field} is {value}, and is not used.', hint: 'It must be one of {allowed}.' },
  'field_ignored:whole': {
    message: '{field} is {value}, and is not used.',
    hint: 'It must be a whole number from {least} to {most}.',
  },
  'field_ignored:removed': {
    message: '{field} does not exist any more, and is not used.',
    hint: 'Use timeoutMs or toolBudget instead.',
  },
  'field_ignored:shape': {
    message: '{field} is not used: {faults}.',
    hint: 'The field is described in docs/agents.md.',
  },
  'field_unsupported:servers': {
    message: 'This version gives agents no tools of servers (mcp:), so the agent cannot be launched.',
    hint: 'Take them out of tools; an extension of Pi that brings such tools can be named in subagentOnlyExtensions.',
  },
  'field_unsupported:files': {
    message: 'This version takes names of tools in tools, not files that bring them, so the agent cannot be launched.',
    hint: 'Name the file in subagentOnlyExtensions, and its tools by their names in tools.',
  },
  'field_unsupported:nested': {
    message: 'In this version agents launch no agents themselves, so the agent cannot be launched.',
    hint: 'Remove the field, and launch several agents from a workflow script.',
  },
  'field_unsupported:fast': {
    message: 'This version can ask no model to answer faster, so the agent cannot be launched.',
    hint: 'Remove the field, or choose a faster model.',
  },
  'field_unsupported:acceptance': {
    message: 'This version does not check the work of an agent, so the agent cannot be launched.',
    hint: 'Remove the field, and have a workflow script check the work by a command.',
  },
  'field_unsupported:runner': {
    message: 'This version starts no program but Pi, so the agent cannot be launched.',
    hint: 'Remove the field to have Pi do the work.',
  },
  // What it names
  'reference_unknown:model': {
    message: 'Pi can use no model {name} now.',
    hint: 'The command pi-lanes models lists those that there are.',
  },
  'reference_unknown:model-near': { message: 'Pi can use no model {name} now.', hint: 'Did you mean {near}?' },
  'reference_unknown:models': {
    message: 'Several providers have a model {name}, so none of them is meant.',
    hint: 'Write one of {names}.',
  },
  'reference_unknown:tool': {
    message: 'Neither Pi nor the extensions that it finds have a tool {name}.',
    hint: 'These are there: {known}.',
  },
  'reference_unknown:tool-near': {
    message: 'Neither Pi nor the extensions that it finds have a tool {name}.',
    hint: 'Did you mean {near}?',
  },
  'reference_unknown:skill': {
    message: 'There is no skill {name}.',
    hint: 'Put it where skills are looked for, or name its folder in skillPath.',
  },
  'reference_unknown:skill-near': { message: 'There is no skill {name}.', hint: 'Did you mean {near}?' },
  // What is looked through
  directory_unreadable: { message: 'The folder cannot be read: {reason}.', hint: 'Check its permissions.' },
  directory_not_folder: {
    message: 'This should be a folder of agents, and is none.',
    hint: 'Remove it, or make a folder of it.',
  },
  directory_too_large: {
    message: 'The folder has more than {max} Markdown files; only the first ones are looked at.',
    hint: 'Move those that are no agents elsewhere.',
  },
  settings_invalid: {
    message: 'The settings cannot be used: {reason}.',
    hint: 'Correct the file. Until then no agent is started, because the settings could change or forbid it.',
  },
  override_invalid: {
    message: 'The override of the agent "{name}" cannot be used: {faults}.',
    hint: 'Correct it, or remove it: until then the agent is not launched.',
  },
  override_unknown: {
    message: 'The override of the agent "{name}" has a field {field}, which no override has; it is not used.',
    hint: 'The fields are listed in docs/agents.md.',
  },
  'override_unknown:meant': {
    message: 'The override of the agent "{name}" has a field {field}, which no override has; it is not used.',
    hint: 'Did you mean {meant}?',
  },
} as const satisfies Record<string, AgentText>;

export type AgentTextId = keyof typeof AGENT_TEXTS;
