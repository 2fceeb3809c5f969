/** Changing agents. */
import type { ErrorText } from './error-text.ts';

export const AGENTS = {
  agent_changed: {
    message: '{file} was changed meanwhile: nothing was written.',
    hint: 'Look at the file, then try again.',
  },
  'agent_config_invalid:unknown': { message: 'An agent has no field "{field}".', hint: 'There are: {known}.' },
  'agent_config_invalid:meant': { message: 'An agent has no field "{field}".', hint: 'Did you mean "{meant}"?' },
  'agent_config_invalid:value': {
    message: 'The agent would be invalid, so nothing was written: {reason}',
    hint: 'See docs/agents.md for what each field may be.',
  },
  'agent_config_invalid:text': { message: '{field} is {value}; it must be a text.', hint: 'Give it as a text.' },
  'agent_config_invalid:json': {
    message: '{field} looks like JSON and is none: {value}',
    hint: 'Correct it, or leave out the bracket at its beginning.',
  },
  'agent_config_invalid:name': {
    message: 'Nothing is left of the name "{value}".',
    hint: 'Use letters from a to z, digits and dashes.',
  },
  'agent_config_invalid:word': {
    message: 'An agent cannot be called "{name}": that is a word of the command pi-lanes agents.',
    hint: 'Give it another name; these are taken: {words}.',
  },
  'agent_config_invalid:description': {
    message: 'The description is missing.',
    hint: 'Say in a sentence what the agent is for: who chooses an agent reads it.',
  },
  'agent_config_invalid:needed': { message: 'An agent cannot be without {field}.', hint: 'Give another value.' },
  'agent_config_invalid:assignment': {
    message: '--set {value} names no field and value.',
    hint: 'Write it as --set FIELD=VALUE; FIELD= takes the field away.',
  },
  agent_exists: {
    message: 'There is an agent named "{name}" already, in {file}.',
    hint: 'Change that one with `pi-lanes agents update`, or choose another name.',
  },
  'agent_exists:file': {
    message: '{file} is there already, and is no agent of this name.',
    hint: 'Move that file, or choose another name.',
  },
  agent_not_bundled: {
    message: 'No package and not Pi Lanes brings an agent named "{name}".',
    hint: 'An agent of your own is changed with `pi-lanes agents update` and removed with `delete`.',
  },
  'agent_not_editable:source': {
    message: 'The agent "{name}" cannot be changed: its source is {source}.',
    hint: 'Make a copy of your own with `pi-lanes agents eject {name}`, or change it in the settings.',
  },
  'agent_not_editable:scope': {
    message: 'There is no definition of the agent "{name}" with scope {scope}.',
    hint: 'See with `pi-lanes agents` where it comes from.',
  },
  'agent_not_editable:header': {
    message: 'The header of {file} is not written field by field, one to a line.',
    hint: 'Change the file in an editor.',
  },
  'agent_not_editable:text': { message: '{file} is no text in UTF-8.', hint: 'Save it as UTF-8 first.' },
  'agent_not_editable:read-only': {
    message: '{file} is read-only.',
    hint: 'Allow writing it, then try again.',
  },
  'agent_not_editable:no-file': { message: '{file} is no file.', hint: 'Move what stands there, then try again.' },
  'agent_not_editable:link': {
    message: '{file} is a link, so it is not renamed.',
    hint: 'Rename the file it leads to, and the link, then change the name.',
  },
  'agent_not_editable:disk': {
    message: '{file} cannot be written: {reason}.',
    hint: 'Check the permissions of the file and its folder, and the room on the disk.',
  },
  agent_nothing_to_undo: {
    message: 'No change of an agent can be taken back.',
    hint: 'The latest 20 changes made by Pi Lanes can.',
  },
  'agent_nothing_to_undo:later': {
    message: 'The change of "{name}" is not the latest one any more: that is {action} of "{other}".',
    hint: 'Take back the later changes first.',
  },
  agent_scope_needed: {
    message: 'The user and the project both have the agent "{name}": {files}.',
    hint: 'Say which one is meant: --scope user or --scope project.',
  },
  'agent_scope_needed:no-project': {
    message: '{cwd} is in no project that agents can belong to.',
    hint: 'Make a folder .pi in the project, or use --scope user.',
  },
} as const satisfies Record<string, ErrorText>;
