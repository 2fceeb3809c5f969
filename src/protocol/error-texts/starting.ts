/** Starting a run. */
import type { ErrorText } from './error-text.ts';

export const STARTING = {
  agent_unknown: { message: 'There is no agent named "{name}".', hint: 'Agents here: {known}.' },
  'agent_unknown:places': {
    message: 'There is no agent named "{name}" for {cwd}.',
    hint: 'Agents here: {known}. Looked for in: {places}.',
  },
  agent_ambiguous: {
    message: '"{name}" can mean several agents: {candidates}.',
    hint: 'Use the whole name of one of them.',
  },
  agent_invalid: {
    message: 'The agent "{name}" has invalid configuration: {file}:{line}:{column}: {reason}',
    hint: 'Correct the file. Until then no other agent of this name is started in its place.',
  },
  agent_disabled: {
    message: 'The agent "{name}" is disabled by {setting} in {file}:{line}:{column}.',
    hint: 'Remove that setting, or launch another agent.',
  },
  agent_kept: {
    message: 'The agent "{name}" stays enabled: {setting} says so in {file}:{line}:{column}.',
    hint: 'Disable it there, with --scope project.',
  },
  agent_unsupported: {
    message: 'The agent "{name}" cannot be launched as it is defined: this version does not apply {fields} yet.',
    hint: 'Remove that from {file}, or launch another agent.',
  },
  agent_untrusted: {
    message: 'The agent "{name}" is defined by this project, in {file}.',
    hint: 'Read it, and add --approve if you trust this project.',
  },
  agent_restricted: {
    message: 'The agent "{name}" is none of those that this run may use: {allowed}.',
    hint: 'Launch one of those, or start a run without this bound.',
  },
  'launch_invalid:profiles': { message: 'profiles cannot {value}.', hint: 'It takes one of {allowed}.' },
  'launch_invalid:profile-kind': {
    message: 'There is no kind of profile "{value}".',
    hint: 'Name one of {allowed}.',
  },
  'launch_invalid:profile-name': {
    message: '"{name}" cannot be the name of a profile.',
    hint: 'Use letters, digits, ".", "_" and "-", at most 64.',
  },
  'launch_invalid:no-profile': { message: 'No profile is named.', hint: 'See `pi-lanes profiles`.' },
  'launch_invalid:no-catalogue': {
    message: 'No models are known that a profile could be made from.',
    hint: 'Ask for them with `pi-lanes profiles refresh`.',
  },
  'launch_invalid:provider': { message: 'Pi can use no model of a provider "{value}".', hint: 'There are: {known}.' },
  'launch_invalid:context': {
    message: 'The context is "{value}"; it must be fresh, fork or profile.',
    hint: 'Leave it out for what agent and settings say.',
  },
  'launch_invalid:fork': {
    message: 'There is no conversation that this run could begin with a copy of.',
    hint: 'Launch it with context fresh, or from a session of Pi that is kept.',
  },
  'launch_invalid:profile': {
    message: 'The agent "{name}" declares no defaultContext, so it has no profile.',
    hint: 'Ask for context fresh or fork, or add defaultContext to the definition.',
  },
  'launch_invalid:extension': {
    message: 'The agent "{name}" needs the extension {file}, which does not exist.',
    hint: 'Correct extensions or subagentOnlyExtensions of its definition.',
  },
  'launch_invalid:record': { message: 'This run cannot be started: {faults}.' },
  'launch_invalid:lane': {
    message: 'lane.key is "{key}" and workflowKey is "{workflowKey}".',
    hint: 'They must be equal.',
  },
  'launch_invalid:lane-alone': {
    message: 'lane.key is "{key}" and workflowKey is missing.',
    hint: 'They must be equal.',
  },
  'launch_invalid:milliseconds': {
    message: '{name} is {value}.',
    hint: 'It must be a whole number of milliseconds from 1 to {max}.',
  },
  'launch_invalid:two-limits': {
    message: 'timeoutMs is {timeoutMs} and maxRuntimeMs is {maxRuntimeMs}.',
    hint: 'They are two names for one limit: give one of them.',
  },
  'launch_invalid:no-lanes': {
    message: 'What to do, or the run, is missing.',
    hint: 'See `pi-lanes lanes --help`.',
  },
  'launch_invalid:lanes-action': {
    message: 'There is no "lanes {action}".',
    hint: 'It must be one of {allowed}.',
  },
  'launch_invalid:lanes-option': {
    message: '--{option} does not go with "lanes {action}".',
    hint: 'See `pi-lanes lanes --help`.',
  },
  'launch_invalid:scope': { message: 'scope is "{value}".', hint: 'It must be one of {allowed}.' },
  'launch_invalid:seconds': {
    message: '{name} is {value}.',
    hint: 'It must be a number of seconds from {least} to {most}.',
  },
  'launch_invalid:seconds-or-none': {
    message: '{name} is {value}.',
    hint: 'It must be a number of seconds from {least} to {most}, or 0 for no limit.',
  },
  'launch_invalid:minutes': {
    message: '{name} is {value}.',
    hint: 'It must be a number of minutes from {least} to {most}.',
  },
  'launch_invalid:minutes-or-none': {
    message: '{name} is {value}.',
    hint: 'It must be a number of minutes from {least} to {most}, or 0 for no limit.',
  },
  'launch_invalid:file-only': {
    message: 'outputMode is "file-only" without an output file.',
    hint: 'Name the file with output.',
  },
  'launch_invalid:schema-root': {
    message: 'The output schema has no object as its root: its "type" is {found}.',
    hint: 'It must be "object"; put other values into a property of it.',
  },
  'launch_invalid:schema-size': {
    message: 'The output schema has {bytes} bytes as JSON; the limit is {max}.',
    hint: 'The model reads it with every request: describe less.',
  },
  'launch_invalid:schema-unusable': {
    message: 'The output schema cannot be used: {reason}.',
    hint: 'It must be a JSON schema of draft 2020-12 or 7 that refers to nothing outside itself.',
  },
  'launch_invalid:tool-budget': {
    message: 'toolBudget is not valid: {faults}.',
    hint: 'It has hard and may have soft, whole numbers of calls from 1, and block, names of tools or "*".',
  },
  'launch_invalid:thinking': { message: 'thinking is "{value}".', hint: 'It must be one of {allowed}.' },
  task_empty: { message: 'The task is empty.', hint: 'Say in a sentence or two what the agent should do.' },
  'task_empty:option': { message: '--task is missing.', hint: 'Say what the agent should do.' },
  task_too_large: {
    message: 'The task has {bytes} bytes; the limit is {max}.',
    hint: 'Put the material into a file and name the file in the task.',
  },
  'cwd_missing:started': {
    message: 'The folder this was started in does not exist any more.',
    hint: 'Change to another folder (cd), or name the folder with --cwd and the run by its id.',
  },
  cwd_missing: { message: 'The folder {folder} does not exist.', hint: 'Name an existing folder.' },
  cwd_not_directory: {
    message: '{folder} is a file, not a folder.',
    hint: 'Name the folder the agent should work in.',
  },
  'cwd_gone:lost': {
    message: 'The run cannot go on: its folder {folder} is gone.',
    hint: 'Bring the folder back and resume it, or stop the run.',
    cli: 'Bring the folder back and use `pi-lanes resume RUN`, or end the run with `pi-lanes stop RUN`.',
  },
  cwd_gone: {
    message: 'The run cannot be resumed: its folder {folder} is gone.',
    hint: 'Resume on a copy of the session in another folder (fork).',
    cli: 'Go on with a copy of the session in another folder: `pi-lanes resume RUN --cwd FOLDER`.',
  },
  untrusted_workspace: { message: 'Agents do not start in an untrusted workspace.' },
  project_unreadable: {
    message: 'Git could not tell which repository {folder} belongs to: {reason}.',
    hint: 'Check that git is installed and on PATH, and what `git status` says in that folder.',
  },
  'config_invalid:unreadable': { message: '{file} cannot be read: {reason}.' },
  'config_invalid:json': { message: '{file} is not JSON: {reason}.', hint: 'Correct or remove it.' },
  'config_invalid:field': { message: '{file}: {faults}.', hint: 'Correct or remove it.' },
  'config_invalid:agents': {
    message: '{file}:{line}:{column}: {reason}',
    hint: 'Correct the file: it decides which agents there are, and what they may do.',
  },
  'config_invalid:tool-rule': {
    message: 'In {file} permissions.rules names {tool}, which has rules of its own.',
    hint: 'Take it out.',
  },
  'config_invalid:variable': {
    message: 'The variable {name} is "{value}"; it must be {rule}.',
    hint: 'Correct it, or take it out of the environment.',
  },
  'config_invalid:days': {
    message: '{source} is {value}; it must be a whole number of days from 0 to 36500.',
    hint: 'With 0 runs are kept for ever.',
  },
  config_changed: {
    message: '{file} has been changed by somebody else just now.',
    hint: 'Nothing was written. Try again.',
  },
  config_unwritable: { message: '{file} cannot be written: {reason}.', hint: 'Check its permissions.' },
  store_unwritable: {
    message: 'Pi Lanes may not write here: {reason}.',
    hint: 'Check the owner and the permissions of this path, and whether its disk can be written.',
  },
  disk_full: { message: 'The disk is full: {reason}.', hint: 'Make room, then try again.' },
  output_in_use: { message: 'The output file {file} is already claimed by {holder}.', hint: 'Name another file.' },
  'output_in_use:workflow': {
    message: '{other} and {key} of the workflow would both write {file}.',
    hint: 'Give each an output of its own.',
  },
  'output_in_use:unnamed': {
    message: 'The output file {file} is already claimed by another run.',
    hint: 'Name another file.',
  },
  output_unusable: {
    message: 'The output file {file} cannot be used: {reason}.',
    hint: 'Name a file in a folder you can write to.',
  },
  'output_unusable:unsaved': { message: 'The answer could not be written to {file}: {reason}.' },
  'output_unusable:unsaved-kept': {
    message: 'The answer could not be written to {file}: {reason}.',
    hint: 'It is in {result}, field "text".',
  },
  'output_unusable:unsaved-result': {
    message: 'What the workflow came to could not be written to {file}: {reason}.',
    hint: 'It is in {result}.',
  },
  'output_unusable:no-file': { message: 'The output {file} is not a file.', hint: 'Name a file.' },
} as const satisfies Record<string, ErrorText>;
