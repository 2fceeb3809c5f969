/**
 * Every text of an error of ours, by its code, or by `code:variant` where one code has several. Places in braces are
 * filled with the error's parameters. In English for the command line and the journal; the editor shows the translation of
 * its language, which stands in l10n/ like all texts of the editor. No imports: the script that collects texts reads this.
 */
export interface ErrorText {
  message: string;
  /** The next step. */
  hint?: string;
  /** The same for a command line, where the hint names what only the editor has. `RUN` stands for the run that is meant. */
  cli?: string;
}

const HELP = 'See `pi-lanes help`.';
const FORCE_STOP = {
  hint: 'If this lasts, use Force Stop.',
  cli: 'If this lasts, use `pi-lanes force-stop RUN`.',
} as const;
const CLOSE_PI = {
  hint: 'Close that Pi, or resume on a copy of the session (fork): two that write one session lose what one of them says.',
  cli: 'Close that Pi, or use `pi-lanes resume RUN --fork`: two that write one session lose what one of them says.',
} as const;
const AS_TEXT = 'Close the transcript and open it as text.';
const INSTALL_YOURSELF = 'npm install -g @earendil-works/pi-coding-agent';

export const ERROR_TEXTS = {
  // Starting a run
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
  'config_invalid:no-project': {
    message: 'There is no project for {cwd}: neither it nor a folder above it has .pi or .agents.',
    hint: 'Make a folder .pi in the project, or take --scope user.',
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

  // Changing agents
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
  'agent_config_invalid:description': {
    message: 'The description is missing.',
    hint: 'Say in a sentence what the agent is for: who chooses an agent reads it.',
  },
  'agent_config_invalid:needed': { message: 'An agent cannot be without {field}.', hint: 'Give another value.' },
  'agent_config_invalid:settings': {
    message: '{file} cannot be changed: {reason}',
    hint: 'Correct the file first.',
  },
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
    hint: 'The latest 20 that were made with `pi-lanes agents` can; disable and enable take each other back.',
  },
  agent_scope_needed: {
    message: 'The user and the project both have the agent "{name}": {files}.',
    hint: 'Say which one is meant: --scope user or --scope project.',
  },
  'agent_scope_needed:no-project': {
    message: '{cwd} is in no project that agents can belong to.',
    hint: 'Make a folder .pi in the project, or use --scope user.',
  },

  // The command line
  'launch_invalid:options': { message: '{reason}', hint: HELP },
  'launch_invalid:option': { message: 'There is no option "{option}".', hint: HELP },
  'launch_invalid:option-of-agent': {
    message: '{option} cannot be used with --script or --workflow.',
    hint: 'Leave it out. `pi-lanes help run` says what goes with which.',
  },
  'launch_invalid:option-of-workflow': {
    message: '{option} can only be used with --script or --workflow.',
    hint: 'Leave it out. `pi-lanes help run` says what goes with which.',
  },
  'launch_invalid:option-or-text': {
    message: 'There is no option "{option}".',
    hint: 'A text that begins with "-" stands behind "--": pi-lanes … -- "{text}". See `pi-lanes help`.',
  },
  'launch_invalid:flag-value': {
    message: '{option} is "{value}"; it takes no value.',
    hint: 'Give the option alone, or leave it out.',
  },
  'launch_invalid:no-value': { message: '{option} needs a value, and nothing stands behind it.', hint: HELP },
  'launch_invalid:dash-value': {
    message: '{option} needs a value, and "{value}" stands behind it.',
    hint: 'If that is its value, write {option}={value}.',
  },
  'launch_invalid:empty-model': { message: 'model is empty.', hint: 'Name a model as provider/id, or leave it out.' },
  'launch_invalid:empty-folder': {
    message: 'cwd is empty.',
    hint: 'Name the folder the agent should work in, or leave it out.',
  },
  'launch_invalid:empty-copy-folder': {
    message: '--cwd is empty.',
    hint: 'Name the folder the copy should work in.',
  },
  'launch_invalid:no-run': { message: 'The run is missing.', hint: HELP },
  'launch_invalid:no-agent-name': {
    message: 'The name of the agent is missing.',
    hint: 'They are listed by `pi-lanes agents`.',
  },
  'launch_invalid:no-script': { message: 'The script file is missing.', hint: HELP },
  'launch_invalid:no-message': { message: 'The message is missing.', hint: HELP },
  'launch_invalid:too-many': {
    message: '"{word}" is one word too many.',
    hint: 'Quote a text with spaces; see `pi-lanes help`.',
  },
  'launch_invalid:command': { message: 'There is no command "{command}".', hint: HELP },
  'launch_invalid:no-agent': { message: '--agent is missing.', hint: 'Name one; `pi-lanes agents` lists them.' },
  'launch_invalid:two-tasks': { message: 'Both --task and --task-file are given.', hint: 'Give one of them.' },
  'launch_invalid:task-file': { message: '--task-file {file} cannot be read: {reason}.' },
  'launch_invalid:prompt-file': { message: '--prompt-file {file} cannot be read: {reason}.' },
  'launch_invalid:schema-file': { message: '--output-schema {file} cannot be read: {reason}.' },
  'launch_invalid:schema-json': {
    message: '--output-schema {file} is not JSON: {reason}.',
    hint: 'Name a file with a JSON schema.',
  },
  'launch_invalid:schema-object': {
    message: '--output-schema {file} is JSON, but not a schema of an object.',
    hint: 'It must be a JSON object with "type": "object".',
  },
  'launch_invalid:output-mode': { message: '--output-mode is "{value}".', hint: 'It must be inline or file-only.' },
  'launch_invalid:limit': {
    message: '--limit is "{value}".',
    hint: 'It must be a whole number from 1 to 10000.',
  },
  'launch_invalid:max-spawns': {
    message: '--max-spawns is "{value}": {faults}.',
    hint: 'It must be a whole number from 1.',
  },
  'launch_invalid:follow-json': {
    message: '--follow and --json are given.',
    hint: 'Give one of them: --json prints one object.',
  },
  'launch_invalid:answers': {
    message: '{count} answers are given.',
    hint: 'Give one of --value TEXT, --yes, --no, --cancel.',
  },
  'launch_invalid:nobody-asked': {
    message: 'Nobody can be asked whether to install Pi: the input is no terminal.',
    hint: 'Add --yes to install it without a question.',
  },

  // Node, Pi and models
  node_not_found: {
    message: 'No Node {floor} or newer was found. Tried {tried}.',
    hint: 'Install Node {floor} or newer, or name one in the setting piLanes.node.path (editor) or in PI_LANES_NODE.',
  },
  npm_not_found: {
    message: 'npm was not found: there is none on PATH, and none beside {node}.',
    hint: 'Install npm (it comes with Node from nodejs.org), or install Pi another way and name it in the setting piLanes.pi.path (editor) or in PI_LANES_PI.',
  },
  npm_failed: {
    message: 'npm {command} failed: {reason}.',
    hint: 'Try `npm ping` in a terminal: the registry must be reachable with the npm configuration you have there.',
  },
  'npm_failed:spawn': { message: 'npm could not be started: {reason}.', hint: 'Try `npm ping` in a terminal.' },
  'npm_failed:late': {
    message: 'npm {command} took longer than {seconds} seconds.',
    hint: 'Try `npm ping` in a terminal: the registry must be reachable with the npm configuration you have there.',
  },
  'npm_failed:answer': {
    message: 'npm view printed something that is not understood: {printed}',
    hint: 'Try the same in a terminal.',
  },
  'pi_install_failed:none': {
    message: 'The registry that npm uses has no {name} of the versions {range}.',
    hint: 'Look at what it has: npm view {name} versions',
  },
  'pi_install_failed:incomplete': {
    message: 'Pi {version} was not installed: what npm has put into {folder} is no whole Pi.',
    hint: `Try again; if it stays so, install it yourself: ${INSTALL_YOURSELF}`,
  },
  'pi_install_failed:version': {
    message: 'Pi {version} was not installed: asked for its version it said "{said}".',
    hint: `Try again; if it stays so, install it yourself: ${INSTALL_YOURSELF}`,
  },
  'pi_not_found:none': {
    message: 'Pi was not found: no path is configured, there is no `pi` on PATH, and no copy is installed in {folder}.',
    hint: `Use Install Pi… (editor) or \`pi-lanes install-pi\`, install it yourself with \`${INSTALL_YOURSELF}\`, or name its cli.js in the setting piLanes.pi.path (editor) or in PI_LANES_PI.`,
  },
  'pi_not_found:others': {
    message:
      'Pi was not found: no path is configured, what PATH has is no Pi ({files}), and no copy is installed in {folder}.',
    hint: `Use Install Pi… (editor) or \`pi-lanes install-pi\`, install it yourself with \`${INSTALL_YOURSELF}\`, or name its cli.js in the setting piLanes.pi.path (editor) or in PI_LANES_PI.`,
  },
  'pi_path_invalid:missing': {
    message: 'Pi is configured as "{path}" ({source}), which does not exist.',
    hint: 'Set it to the cli.js of @earendil-works/pi-coding-agent, to its package folder or to a `pi` executable, or remove it.',
  },
  'pi_path_invalid:folder': {
    message: 'Pi is configured as "{path}" ({source}), which is a folder that holds no Pi package.',
    hint: 'Set it to the cli.js of @earendil-works/pi-coding-agent, to its package folder or to a `pi` executable, or remove it.',
  },
  'pi_path_invalid:file': {
    message:
      'Pi is configured as "{path}" ({source}), which is no Pi: it belongs to no Pi package and does not answer --version as Pi does.',
    hint: 'Set it to the cli.js of @earendil-works/pi-coding-agent, to its package folder or to a `pi` executable, or remove it.',
  },
  pi_too_old: {
    message: 'Pi {version} ({file}) is too old; Pi Lanes needs {oldest}, and {full} for everything.',
    hint: `Update it: ${INSTALL_YOURSELF}`,
  },
  'pi_failed:refused': { message: 'Pi refused {command}: {reason}' },
  'pi_failed:refused-silently': { message: 'Pi refused {command} and gave no reason.' },
  'pi_failed:over': { message: 'Pi cannot be asked for {command}: its output has ended.' },
  'pi_failed:late': { message: 'Pi did not answer {command} within {ms} ms.' },
  'pi_failed:ended': { message: 'Pi ended before it answered {command}.' },
  'pi_failed:state': { message: "Pi's answer to get_state is not understood: {faults}" },
  'pi_failed:models': { message: "Pi's list of models is not understood: {faults}." },
  'pi_failed:unasked': {
    message: 'Pi could not be asked for its models: {reason}',
    hint: 'Try `pi --list-models` in a terminal.',
  },
  model_none: {
    message: 'Pi has no usable model.',
    hint: 'Log in with `pi` and /login, or set the API key of a provider.',
  },
  model_unknown: {
    message: 'Pi has no usable model "{name}".',
    hint: 'See `pi --list-models` for the ones it has.',
    cli: 'See `pi-lanes models` for the ones it has.',
  },
  'model_unknown:near': {
    message: 'Pi has no usable model "{name}".',
    hint: 'Did you mean {near}? See `pi --list-models` for all.',
    cli: 'Did you mean {near}? See `pi-lanes models` for all.',
  },
  'model_unknown:other': { message: 'Pi chose the model {name} although {wanted} was asked for.' },
  'model_none:left': {
    message: 'None of the models of this agent can be used. {reasons}',
    hint: 'Name one with --model, or change model and fallbackModels of the agent.',
  },
  model_skipped: { message: 'The model {name} is left out: {reason}' },
  model_excluded: {
    message: 'The model {name} is left out until {until}, because its provider failed: {reason}',
    hint: 'Name another model, or allow it again with `pi-lanes models --include {name}`.',
  },
  model_out_of_scope: {
    message: 'The model {name} is none of those that may be used: {allow}.',
    hint: 'Name one of those, or change subagents.modelScope in settings.json.',
  },
  thinking_too_high: {
    message: 'The thinking level {level} of {name} is above {max}, the highest that is allowed.',
    hint: 'Name a lower level, or change subagents.maxThinking in settings.json.',
  },
  model_ambiguous: { message: 'Several providers have a model "{name}".', hint: 'Name one of: {names}.' },

  // The runner
  runner_died: { message: 'The runner ended before the run began.' },
  runner_start_timeout: {
    message: 'The runner did not begin to listen within {ms} ms.',
    hint: 'Is this machine overloaded? Try again.',
  },
  'runner_refused:token': { message: 'The token is not that of this run.' },
  'runner_refused:hello': { message: 'The first message must be hello with the token of the run.' },
  'runner_refused:proceed': { message: 'There is no run to proceed with.' },
  'runner_refused:second': { message: 'This runner has a run already.' },
  'runner_refused:other': { message: 'This runner was started for {runId}.' },
  'runner_refused:parameters': { message: 'The parameters of {method} cannot be used: {faults}.' },
  'runner_refused:result': { message: 'The result of {method} cannot be used: {faults}.' },
  'runner_refused:force': {
    message: 'The runner answers; there is no need for force.',
    hint: 'Use Stop.',
    cli: 'Use `pi-lanes stop RUN`.',
  },
  processes_unproven: {
    message: 'These processes could not be proven to be gone: {pids}.',
    hint: 'Look at them with the tools of your system, and end them there if they are what is left of the run.',
  },
  'runner_unreachable:late': {
    message: 'The runner did not answer: no answer to {method} within {ms} ms.',
    ...FORCE_STOP,
  },
  'runner_unreachable:closed': {
    message: 'The runner did not answer: the connection closed before {method} was answered.',
    ...FORCE_STOP,
  },
  'runner_unreachable:no-connection': {
    message: 'The runner did not answer: no connection within {ms} ms.',
    ...FORCE_STOP,
  },
  'runner_unreachable:failed': { message: 'The runner did not answer: {reason}.', ...FORCE_STOP },
  'runner_unreachable:lease': {
    message: 'The runner cannot be reached: {reason}.',
    hint: 'Try again in a moment.',
  },
  'runner_unreachable:lease-state': {
    message: 'The runner cannot be reached: its lease is {lease}.',
    hint: 'Try again in a moment.',
  },
  'runner_unreachable:lease-removed': {
    message: 'The runner cannot be reached: its lease was removed. It writes it again within seconds.',
    hint: 'Try again in a moment.',
  },
  'runner_unreachable:socket': {
    message: "The runner's socket cannot be reached: {reason}.",
    ...FORCE_STOP,
  },
  'runner_unreachable:unproven': {
    message: 'Whether the runner of this run lives cannot be told.',
    hint: 'Look again in a moment. Force Stop ends what is proven to belong to the run, and names what is not.',
    cli: 'Look again in a moment. `pi-lanes force-stop RUN` ends what is proven to belong to the run, and names what is not.',
  },
  'runner_unreachable:silent': { message: 'The runner of this run does not answer.', ...FORCE_STOP },
  'start_not_confirmed:waited': {
    message: 'Whoever started this run went away before confirming it; no child was started.',
  },
  'start_not_confirmed:cut-off': {
    message: 'The run was cut off before it was confirmed; no child was started.',
  },
  'socket_folder_unsafe:made': {
    message: 'The folder for sockets {folder} cannot be made: {reason}.',
    hint: 'Remove it, or set XDG_RUNTIME_DIR to a folder of your own (mode 0700).',
  },
  'socket_folder_unsafe:no-folder': {
    message: 'The folder for sockets {folder} is not a folder.',
    hint: 'Remove it, or set XDG_RUNTIME_DIR to a folder of your own (mode 0700).',
  },
  'socket_folder_unsafe:owner': {
    message: 'The folder for sockets {folder} belongs to user {owner}, not {uid}.',
    hint: 'Remove it, or set XDG_RUNTIME_DIR to a folder of your own (mode 0700).',
  },
  'socket_folder_unsafe:mode': {
    message: 'The folder for sockets {folder} can be entered by others (mode {mode}).',
    hint: 'Remove it, or set XDG_RUNTIME_DIR to a folder of your own (mode 0700).',
  },
  socket_path_too_long: {
    message: 'The socket path {path} has {bytes} bytes; the limit is {max}.',
    hint: 'Set {variable} to a folder with a shorter path.',
  },
  lock_held: {
    message: '{lock} is in use by process {pid} ({purpose}).',
    hint: 'Wait until it is done, or stop that process.',
  },
  'lock_held:unnamed': {
    message: '{lock} is in use by another process.',
    hint: 'Wait until it is done, or stop that process.',
  },
  'lock_held:taken-over': {
    message: 'Another client has taken this run over already.',
    hint: 'Look at its status again.',
  },
  lock_unavailable: {
    message: 'The lock {path} cannot be read: {reason}.',
    hint: 'Check the rights of this folder.',
  },

  // Controlling a run
  steer_empty: { message: 'The message is empty.', hint: 'Say something to the agent.' },
  steer_too_large: {
    message: 'The message has {bytes} bytes; the limit is {max}.',
    hint: 'Put it into a file and name the file.',
  },
  'run_not_running:no-runner': {
    message: 'This run has no living runner.',
    hint: 'Its work is over, or was cut off; see its status.',
  },
  'run_not_running:steer': {
    message: 'The run has ended: it is {state}.',
    hint: 'Resume it to say more.',
    cli: 'Say more with `pi-lanes resume RUN --task TEXT`.',
  },
  'run_not_running:answer': {
    message: 'The run has ended: it is {state}.',
    hint: 'Nobody waits for the answer any more.',
  },
  'answer_invalid:yes-or-no': {
    message: 'The answer was not taken: It is a yes-or-no question, and "{value}" is neither. The question stays open.',
    hint: 'Answer yes or no, or cancel it.',
  },
  'answer_invalid:choice': {
    message: 'The answer was not taken: It asks for one of its options, not for yes or no. The question stays open.',
    hint: 'Answer with one of its options: {options}; or cancel it.',
  },
  'answer_invalid:option': {
    message: 'The answer was not taken: "{value}" is none of its options. The question stays open.',
    hint: 'Answer with one of its options: {options}; or cancel it.',
  },
  'answer_invalid:text': {
    message: 'The answer was not taken: It asks for a text, not for yes or no. The question stays open.',
    hint: 'Answer with a text (--value), or cancel it.',
  },
  'question_gone:several': { message: '{count} questions are open.', hint: 'Name one of: {ids}.' },
  'question_gone:none': { message: '0 questions are open.', hint: 'The agent waits for nothing.' },
  'question_gone:other': { message: 'The question {id} is not open.', hint: 'Name one of: {ids}.' },
  'question_gone:other-none': {
    message: 'The question {id} is not open.',
    hint: 'The agent waits for nothing.',
  },
  'run_lost:control': {
    message: "The run's runner is gone.",
    hint: 'Resume the run to continue it, or stop it.',
    cli: 'Continue it with `pi-lanes resume RUN`, or end it with `pi-lanes stop RUN`.',
  },
  'run_lost:shown': {
    message: 'The runner of this run is gone: it was killed, or the machine was restarted.',
    hint: 'Resume continues it where it stood; Stop ends what is left of it.',
    cli: '`pi-lanes resume RUN` continues it where it stood; `pi-lanes stop RUN` ends what is left of it.',
  },
  'resume_refused:active': { message: 'The run cannot be resumed: it is {state}.' },
  'resume_refused:running': {
    message: 'The run cannot be resumed: it is running.',
    hint: 'Steer it instead.',
    cli: 'Say it with `pi-lanes steer RUN MESSAGE` instead.',
  },
  'resume_refused:waiting': {
    message: 'The run cannot be resumed: it is waiting.',
    hint: 'Answer its question instead.',
  },
  'resume_refused:unresponsive': {
    message: 'The run cannot be resumed: it is unresponsive.',
    hint: 'Use Force Stop first.',
    cli: 'Use `pi-lanes force-stop RUN` first.',
  },
  child_unknown: { message: 'The run has no agent "{name}".', hint: 'It has: {known}.' },
  'child_unknown:nearest': {
    message: 'The run has no agent "{name}".',
    hint: 'Did you mean "{nearest}"? It has: {known}.',
  },
  'child_unknown:none': {
    message: 'The run has no agent "{name}".',
    hint: 'It has started none yet; see its status.',
  },
  'child_unknown:planned': {
    message: 'The agent "{name}" has not been started yet.',
    hint: 'It is a later stage of its lane; see the status of the run.',
  },
  'child_unknown:skipped': {
    message: 'The agent "{name}" was never started: its lane ended before it.',
    hint: 'See the status of the run for the stage that ended the lane.',
  },
  'child_unknown:needed': {
    message: 'The run is a workflow with several agents.',
    hint: 'Name the one that is meant, with --child: {known}.',
  },
  child_unsupported: {
    message: 'The field "{field}" cannot be used in workflows yet.',
    hint: 'Leave it out.',
  },
  receipt_unusable: {
    message: 'The workflow {runId} has no receipt that could be used.',
    hint: 'It may still be active. Its agents can be resumed by their own ids.',
  },
  'receipt_unusable:wrong': {
    message: 'The receipt of the workflow {runId} cannot be used: {reason}.',
    hint: 'Its agents can be resumed by their own ids; `pi-lanes status {runId}` lists them.',
  },
  'resume_refused:single': {
    message: 'Only workflows are continued after their end.',
    hint: 'Resume the run.',
    cli: 'Use `pi-lanes resume RUN`.',
  },
  'resume_refused:final': {
    message: 'The workflow cannot be continued: it is {state}, and no limit has ended it.',
    hint: 'Start it again, or resume one of its agents.',
    cli: 'Start it again, or use `pi-lanes resume RUN --child KEY`.',
  },
  'resume_refused:time': {
    message: 'The workflow has used {used} ms of its time; the limit is {limit} ms.',
    hint: 'Continue it with a higher time limit.',
  },
  'resume_refused:limit': {
    message: 'The workflow would end the same way again: {reason}',
    hint: 'Continue it with more than that: --max-spawns, --max-tokens or --max-cost of `pi-lanes continue`.',
  },
  'resume_refused:lower': {
    message: '{name} would be {value}; it is {was}.',
    hint: 'A workflow goes on with the same limits or higher ones. What is left out stays as it is.',
    cli: 'Use `pi-lanes continue RUN` with the same limits or higher ones: --max-spawns, --max-tokens, --max-cost. What is left out stays as it is.',
  },
  'resume_refused:child': { message: 'The agent {key} cannot be resumed: {reason}.' },
  script_invalid: {
    message: 'The script has an error in line {line}, column {column}: {message}',
    hint: 'See `pi-lanes validate`, or the Problems view.',
    cli: 'Use `pi-lanes validate FILE`; it names every fault.',
  },
  'script_invalid:several': {
    message: 'The script has {count} errors, the first in line {line}, column {column}: {message}',
    hint: 'See `pi-lanes validate`, or the Problems view.',
    cli: 'Use `pi-lanes validate FILE`; it names every fault.',
  },
  'launch_invalid:workflow': {
    message: 'There is no workflow "{name}".',
    hint: 'There are: {known}. A script of your own is started by its file.',
  },
  'launch_invalid:workflow-args': { message: 'The arguments of the workflow {name} cannot be used: {faults}.' },
  'launch_invalid:workflow-field': {
    message: '{field} cannot be used with a workflow that is started by its name.',
    hint: 'Leave it out.',
  },
  'launch_invalid:preflight': { message: 'The preflight cannot be used: {faults}.' },
  'launch_invalid:preflight-file': { message: '--preflight {file} cannot be read: {reason}.' },
  'launch_invalid:tokens': {
    message: '{option} is "{value}".',
    hint: 'It must be a whole number of tokens, or 0 for no limit.',
  },
  'launch_invalid:dollars': {
    message: '{option} is "{value}".',
    hint: 'It must be a number of US dollars, as 2 or 0.5, or 0 for no limit.',
  },
  'launch_invalid:count': { message: '{option} is "{value}".', hint: 'It must be a whole number from 1 to 999999.' },
  'launch_invalid:two-args': { message: 'Both --args and --args-file are given.', hint: 'Give one of them.' },
  'launch_invalid:two-inputs': {
    message: '--script and --args-file both read standard input.',
    hint: 'Name a file for one of them.',
  },
  'launch_invalid:args-file': { message: '--args-file {file} cannot be read: {reason}.' },
  'launch_invalid:args': {
    message: 'The arguments of the workflow cannot be used: {reason}.',
    hint: 'Give one JSON value, in single quotes in most shells.',
  },
  host_failed: { message: 'The command failed: {reason}.' },
  workflow_failed: { message: '{reason}' },
  'resume_refused:workflow': {
    message: 'The run cannot be resumed with a message: it is a workflow.',
    hint: 'Continue it, or resume one of its children.',
    cli: 'Use `pi-lanes continue RUN`, or `pi-lanes resume RUN --child KEY`.',
  },
  'resume_refused:stopped': {
    message: 'The run cannot be resumed: it was stopped.',
    hint: 'Start a new run with the same task.',
  },
  'resume_refused:rejected': { message: 'The run cannot be resumed: it was rejected.' },
  'resume_refused:lost': {
    message: 'The run is lost: it can only go on as it was launched, without a new task, folder or copy.',
    hint: 'Resume it without them, then steer it.',
    cli: 'Use `pi-lanes resume RUN`, then `pi-lanes steer RUN MESSAGE`.',
  },
  'resume_refused:no-session': { message: 'The run cannot be resumed: it has no persisted session file.' },
  'resume_refused:session': {
    message: 'The run cannot be resumed: {reason}.',
    hint: 'Its transcript is still there.',
  },
  session_in_use: {
    message: 'The session {session} is in use by {purpose} (process {pid}).',
    hint: 'Wait until it ends, steer it, or resume on a copy of the session (fork).',
    cli: 'Wait until it ends, use `pi-lanes steer RUN MESSAGE`, or go on with a copy: `pi-lanes resume RUN --fork`.',
  },
  'session_in_use:unnamed': {
    message: 'The session {session} is in use by another process.',
    hint: 'Wait until it ends, steer it, or resume on a copy of the session (fork).',
    cli: 'Wait until it ends, use `pi-lanes steer RUN MESSAGE`, or go on with a copy: `pi-lanes resume RUN --fork`.',
  },
  'session_in_use:written': {
    message: 'The session {session} was written to by another program {age} ago.',
    ...CLOSE_PI,
  },
  'session_in_use:written-by-pi': {
    message:
      'The session {session} was written to by another program {age} ago; a Pi works in its folder (process {pids}).',
    ...CLOSE_PI,
  },
  interrupted: { message: 'The run ended before its child began.' },
  timed_out: {
    message: 'The run timed out after {ms} ms ({duration}), while {phase}.',
    hint: 'Give it more time, or a smaller task.',
  },
  'timed_out:recovered': {
    message: 'The run timed out after {ms} ms ({duration}).',
    hint: 'Give it more time, or a smaller task.',
  },
  tool_timed_out: {
    message: 'The tool {tool} timed out after {ms} ms ({duration}).',
    hint: 'Raise toolTimeoutMs if the tool really needs longer.',
  },
  recovery_failed: {
    message: 'The run has lost {count} runners; it is not started again.',
    hint: 'Look at its runner.log, then start a new run.',
  },

  // Reading runs
  'run_not_found:none': {
    message: 'This project has no runs yet.',
    hint: 'Start one: pi-lanes run --agent worker --task "…"',
  },
  'run_not_found:id': { message: 'There is no run "{id}".', hint: 'See `pi-lanes status --all`.' },
  'run_not_found:folder': { message: 'There is no run in {folder}.' },
  'run_not_found:not-started': { message: 'The run has not been started yet.' },
  'run_not_found:short': {
    message: '"{id}" is too short for a run.',
    hint: 'Give at least {least} characters of its id.',
  },
  run_ambiguous: { message: '"{id}" fits {count} runs.', hint: 'Give more of the id: {ids}.' },
  'run_unreadable:file': { message: '{file} cannot be read: {reason}.' },
  'run_unreadable:no-record': {
    message: '{file} is missing: without its launch record nothing is known of this run.',
  },
  'run_unreadable:json': { message: '{file} is not JSON. It was left as it is.' },
  'run_unreadable:body': {
    message: '{file} is needed to go on and cannot be read: {reason}.',
    hint: 'Put the file back as it was, then continue the run: what had ended is not started again.',
  },
  'run_unreadable:changed': {
    message: '{file} is not what the run had written: it was changed, cut or replaced.',
    hint: 'Put the file back as it was, then continue the run: what had ended is not started again.',
  },
  'run_unreadable:emptied': {
    message: '{file} does not say any more what the run did: it was emptied or replaced. Agents begun: {count}.',
    hint: 'What they did stands in {folder}. Put the journal back to continue the run, or start a new one.',
  },
  'run_unreadable:link': { message: '{folder} is a link, not the folder of a run. It was not followed.' },
  'run_unreadable:ended': {
    message: 'The processes of the run were ended, but its end could not be written: {reason}',
    hint: 'Its folder stays as it is, with whatever its agent had done.',
  },
  'run_unreadable:record': { message: '{file} is not a launch record: {faults}.' },
  'script_unreadable:no-file': {
    message: 'The script {path} could not be read: it is a folder.',
    hint: 'Name the files themselves, for example *.workflow.js.',
  },
  script_unreadable: {
    message: 'The script {path} could not be read: {reason}.',
    hint: 'Check the path and its permissions.',
  },
  'journal_newer:record': {
    message: '{file} was written by a newer Pi Lanes (record version {version}; this one knows 1).',
    hint: 'Update the extension, or control the run from the version that started it.',
  },
  'journal_newer:rpc': {
    message: 'The runner speaks version {runner}, this client {client}.',
    hint: 'Update Pi Lanes.',
  },

  // Reading transcripts
  transcript_unreadable: { message: '{reason}', hint: 'See that the file can be read, then open it again.' },
  'transcript_unreadable:no-file': { message: 'There is no file to read.' },
  'transcript_unreadable:no-reader': { message: 'The reader of transcripts is not running.', hint: AS_TEXT },
  'transcript_unreadable:reader-ended': {
    message: 'The reader of transcripts ended with code {code}.',
    hint: AS_TEXT,
  },
  'transcript_unreadable:not-ours': {
    message: 'This is neither a run of Pi Lanes nor a session file (.jsonl).',
    hint: 'Open a run from the Runs view, or a session file of Pi.',
    cli: 'Name a run that `pi-lanes status` lists.',
  },
  'transcript_unreadable:elsewhere': {
    message: 'Only session files on this machine can be opened, not {address}.',
  },
  'transcript_unreadable:text-gone': { message: 'This text is not in the transcript any more.' },
  file_not_found: { message: 'There is no file "{path}".', hint: 'It may have been moved or removed since.' },
  'file_not_found:profile': { message: 'There is no profile "{name}".', hint: 'There are: {known}.' },
  'file_not_found:relative': {
    message: '"{path}" is relative, and the folder of this session is not known.',
  },
  link_refused: { message: 'Only web addresses without a password are opened, not "{address}".' },
  message_invalid: { message: 'The page sent something unknown: {faults}.' },

  // The child
  child_spawn_failed: {
    message: '{program} could not be started in {folder}: {reason}.',
    hint: 'Check that the folder exists and that Node and Pi can be run (pi-lanes doctor).',
  },
  child_handshake_timeout: {
    message: 'Pi did not answer within {seconds} s of its start.',
    hint: 'Try `pi --mode rpc` in this folder; an extension of Pi may be waiting for something.',
  },
  'child_exited:start-code': { message: 'Pi exited at its start (code {code}).' },
  'child_exited:start-signal': { message: 'Pi exited at its start (signal {signal}).' },
  'child_exited:signal': {
    message: 'The child was ended from outside by {signal}.',
    hint: 'Something other than Pi Lanes stopped it: the system running out of memory, or a person. Resume goes on with its session.',
    cli: 'Something other than Pi Lanes stopped it: the system running out of memory, or a person. `pi-lanes resume RUN` goes on with its session.',
  },
  'child_exited:aborted': { message: 'The child was aborted from outside.' },
  'child_exited:code': { message: 'The child exited with code {code} before it was done.' },
  'child_exited:after-tool': { message: 'The child ended after a tool call, before the model could answer.' },
  child_mid_tool: { message: 'The child exited (code {code}) while its tool {tool} was running.' },
  'child_empty_output:none': { message: 'The child ended without an answer.' },
  'child_empty_output:empty': { message: 'The child ended with an empty answer.' },
  structured_output_missing: {
    message:
      'The child ended without the structured output it was asked for: it gave none with its tool structured_output.',
    hint: 'What it said instead is kept as its answer. Say in the task what the output should hold, or resume the run.',
    cli: 'What it said instead is kept as its answer. Say in the task what the output should hold, or use `pi-lanes resume RUN`.',
  },
  'structured_output_missing:refused': {
    message: 'The child ended without the structured output it was asked for. What it gave was refused: {faults}.',
    hint: 'What it said instead is kept as its answer. Check the schema, or resume the run.',
    cli: 'What it said instead is kept as its answer. Check the schema, or use `pi-lanes resume RUN`.',
  },
  'structured_output_missing:unusable': {
    message: 'The structured output that the child gave cannot be used: {faults}.',
    hint: 'What it said is kept as its answer. Resume the run to have the output given again.',
    cli: 'What it said is kept as its answer. `pi-lanes resume RUN` has the output given again.',
  },
  tools_left_out: { message: 'Tools of its definition that this run does not allow are left out: {tools}.' },
  skills_missing: { message: 'Skills of its definition are not there: {skills}.' },
  'skills_missing:unread': { message: 'Its skills cannot be used: it may not read files.' },
  extensions_denied: { message: 'This run allows no extensions: those of its definition are not loaded.' },
  tools_missing: {
    message: 'The agent {agent} may use tools that Pi does not have here: {tools}.',
    hint: 'Install the Pi extension that brings them, or take them off the list in the definition of the agent.',
  },
  child_model_error: {
    message: 'The model failed: {reason}',
    hint: 'Check the model and its credentials, or try again later.',
  },
  'child_model_error:silent': {
    message: 'The model failed: the provider gave no reason',
    hint: 'Check the model and its credentials, or try again later.',
  },
  child_output_cut: {
    message: "The model's answer was cut at its output limit.",
    hint: 'Ask for a shorter answer, or use a model with a larger output limit.',
  },
  protocol_output_limit: { message: 'The child wrote a protocol line of {bytes} bytes; the limit is 16 MiB.' },
  result_unsaved: {
    message: 'The work is done, but its result could not be saved: {reason}',
    hint: 'Make the folder writable. The answer stands in the transcript.',
  },
  'result_unsaved:session': {
    message: 'The work is done, but its result could not be saved: {reason}',
    hint: 'Make the folder writable. The answer stands in the transcript and in {session}; Resume goes on with it.',
    cli: 'Make the folder writable. The answer stands in the transcript and in {session}; `pi-lanes resume RUN` goes on with it.',
  },

  // Worktrees
  'git_unusable:missing': {
    message: 'Git cannot be used: {reason}.',
    hint: 'Install git 2.25 or newer and see that it is on PATH.',
  },
  'git_unusable:old': {
    message: 'Git {version} is too old for worktrees.',
    hint: 'Install git 2.25 or newer and see that it is on PATH.',
  },
  git_failed: {
    message: '{command} failed: {reason}.',
    hint: 'Look at what `git status` says in that folder.',
  },
  'git_failed:timeout': {
    message: '{command} took longer than {seconds} seconds and was ended.',
    hint: 'A hook or a filter of the repository may hang: try the command in a terminal.',
  },
  'git_failed:cancelled': {
    message: '{command} was ended, because what it was for was stopped.',
  },
  'git_failed:locked': {
    message: '{command} failed, because another git holds a lock: {reason}.',
    hint: 'Wait for the other git. When none is running, remove the lock file.',
  },
  'git_failed:unproven': {
    message:
      '{command} was ended, and it could not be proven that it is gone. Nothing more is changed in this repository from here.',
    hint: 'Look for a git process that hangs, and end it.',
  },
  'worktree_refused:no-repository': {
    message: 'No worktree can be made for {children}: {folder} is in no git repository.',
    hint: 'Run it without a worktree, or choose a folder inside a checkout.',
  },
  'worktree_refused:unreadable': {
    message: 'No worktree can be made for {children}: git refuses {folder}: {reason}.',
    hint: 'Look at what `git status` says in that folder.',
  },
  'worktree_refused:bare': {
    message: 'No worktree can be made for {children}: {folder} is a bare repository, without files to work on.',
    hint: 'Start from a checkout of it: `git worktree add`.',
  },
  'worktree_refused:git-folder': {
    message: 'No worktree can be made for {children}: {folder} is inside a git folder.',
    hint: 'Run it without a worktree, or choose a folder inside a checkout.',
  },
  'worktree_refused:dirty': {
    message:
      'No worktree can be made for {children}: {folder} has changes that are not committed, which the worktree would not have: {files}.',
    hint: 'Commit or stash them, or run it without a worktree.',
  },
  'worktree_refused:unborn': {
    message: 'No worktree can be made for {children}: the branch of {folder} has no commit yet.',
    hint: 'Make a first commit, or run it without a worktree.',
  },
  'worktree_refused:base': {
    message: 'No worktree can be made for {children}: in {folder} there is no branch or tag "{ref}", or more than one.',
    hint: 'Name a branch, a tag or `HEAD`; `refs/heads/…` where a branch and a tag have the same name.',
  },
  'worktree_refused:other-folder': {
    message: 'No worktree can be made for {children}: it should work in {folder}, the others in {shared}.',
    hint: 'Leave the folder out, or start it on its own.',
  },
  'worktree_refused:inside-checkout': {
    message: 'No worktree can be made for {children}: the folder for worktrees, {path}, is inside {inside}.',
    hint: 'Choose a folder outside of the repository.',
  },
  'worktree_refused:inside-extensions': {
    message:
      'No worktree can be made for {children}: Pi would load what is in the folder for worktrees, {path}, as extensions, because it is inside {inside}.',
    hint: 'Choose a folder outside of the repository.',
  },
  'worktree_refused:unwritable': {
    message: 'No worktree can be made in {path}: {reason}.',
    hint: 'Make the folder writable, or choose another one for worktrees.',
  },
  worktree_failed: {
    message: 'The worktree {path} could not be made: {reason}. What there was of it was taken back.',
    hint: 'Look at what git says, and start it again.',
  },
  'worktree_failed:long-path': {
    message:
      'The worktree {path} could not be made, because a path in it is too long: {reason}. What there was of it was taken back.',
    hint: 'Choose a shorter folder for worktrees, or `git config --global core.longpaths true`.',
  },
  worktree_left: {
    message: '{what} could not be taken back: {reason}.',
    hint: 'By hand: `git worktree remove`, then `git branch -D`.',
  },
  worktree_hook_failed: {
    message: 'The worktree is whole, but a hook of the repository failed in it: {reason}',
    hint: 'Look at its `post-checkout` hook.',
  },
  worktree_lost: {
    message: 'The worktree {path} is not there as it was made: {reason}.',
    hint: 'Nothing was changed. Look at `git worktree list`.',
  },
  'worktree_lost:other': {
    message: 'At {path} there is another worktree than the one that was made there.',
    hint: 'Nothing was changed. Look at `git worktree list`.',
  },
  'worktree_preserved:nested': {
    message: 'The worktree stays: {path} in it is a repository of its own, whose commits are nowhere else.',
    hint: 'Move that folder to where it should be, then remove the worktree.',
  },
  'worktree_preserved:submodule': {
    message: 'The worktree stays: there is work in the submodule {path}: {reason}.',
    hint: 'Commit and push it there, then remove the worktree.',
  },
  'worktree_preserved:operation': {
    message: 'The worktree stays: git is in the middle of something there ({operation}).',
    hint: 'Finish or abort it in the worktree; `git status` there says how.',
  },
  'worktree_preserved:outside': {
    message: 'The worktree stays: {files} files that git ignores, {megabytes} MB, are too much to be copied.',
    hint: 'Delete what can be made again, or name it as disposable.',
  },
  'worktree_preserved:patch': {
    message: 'The worktree stays: its patch does not give the same files again.',
    hint: 'Take its files from the worktree, or from the commit that was kept.',
  },
  'worktree_preserved:copy': {
    message: 'The worktree stays: what was kept of it is not whole any more: {reason}.',
    hint: 'Start it again: it will be kept anew.',
  },
  'worktree_preserved:ref': {
    message: 'The worktree stays: {ref} does not keep its files and commits any more.',
    hint: 'Start it again: it will be kept anew.',
  },
  'worktree_preserved:changed': {
    message: 'The worktree {path} stays: something has changed in it since it was kept.',
    hint: 'Start it again: it will be kept anew.',
  },
  'worktree_preserved:locked': {
    message: 'The worktree {path} stays: it is locked. {reason}',
    hint: 'By hand: `git worktree unlock`, then `git worktree remove`.',
  },
  'worktree_preserved:failed': {
    message: 'The worktree {path} stays: {reason}.',
    hint: 'By hand: `git worktree remove`, then `git branch -D`.',
  },
  'worktree_refused:setup': {
    message: 'No worktree can be made: the setup hook {path} is no file, or only a name.',
    hint: 'Give an absolute path, one that begins with `~/`, or one from the root of the repository (`./setup.sh`).',
  },
  worktree_setup_failed: {
    message: 'The setup hook {path} failed: {reason}. The worktrees it was for were taken back.',
    hint: 'It must print one JSON object, `{ "syntheticPaths": [] }`, and exit with 0.',
  },
  'config_invalid:writers': {
    message: 'The variable PI_LANES_WRITERS is "{value}"; it can be "wait", "refuse" or "any".',
  },
  'launch_invalid:isolation': {
    message: '"isolation" is "{isolation}" and "worktree" is {worktree}: they say different things.',
    hint: 'Give only one of them.',
  },
  'launch_invalid:base-ref': {
    message: '"baseRef" cannot be "{ref}": {reason}.',
    hint: 'Name a branch or a tag, or leave it out for HEAD.',
  },
  'launch_invalid:base-alone': {
    message: '"baseRef" is "{ref}", but the child gets no worktree that could start there.',
    hint: 'Give it `worktree: true`, or leave "baseRef" out.',
  },
  'launch_invalid:worktree-resumed': {
    message: 'A child that is resumed goes on where it was, in {folder}: it cannot be given a worktree now.',
    hint: 'Leave "worktree" and "baseRef" out, or launch a new child.',
  },
  checkout_in_use: {
    message: 'In {folder} {owner} may change files (process {pid}), and two at once would work against each other.',
    hint: 'Wait until it has ended, run this one in a worktree of its own, or give it an agent that only reads.',
  },
  'checkout_in_use:unnamed': {
    message: 'In {folder} another agent may change files, and two at once would work against each other.',
    hint: 'Wait until it has ended, run this one in a worktree of its own, or give it an agent that only reads.',
  },
  'worktree_incomplete:submodules': {
    message: 'The submodules of this worktree are empty: {reason}',
    hint: 'Fill them by hand: `git submodule update --init` in the worktree.',
  },
  'worktree_incomplete:hooks': {
    message: 'Hooks are inactive in this worktree: core.hooksPath is {path}, and there is no such folder in it.',
    hint: 'Have a setup hook install them.',
  },
  'worktree_incomplete:budget': {
    message:
      '{files} files that were to be copied into the worktree are missing: together they have more than {megabytes} MB.',
    hint: 'Name fewer files.',
  },
  'worktree_preserved:uncaptured': {
    message: 'The worktree {path} stays: it is not kept as it is now.',
    hint: 'Start it again when its run has ended: it will be kept first.',
  },
  'worktree_preserved:handoff': {
    message: 'The worktree {path} stays: what is to be brought home could not be written down: {reason}.',
    hint: 'Make the folder of the run writable, and start it again.',
  },
  'worktree_preserved:users': {
    message: 'The worktree {path} stays: it is not proven that nobody works in it. Children: {children}.',
    hint: 'Let them end, or stop them.',
  },
  worktree_ledger_unreadable: {
    message: 'What is remembered of a worktree cannot be read: {path}: {reason}.',
    hint: 'Nothing was changed, and the worktree stays. Look at `git worktree list`.',
  },
  worktree_ledger_missing: {
    message: 'Nothing is remembered of a worktree of child {child} of run {runId}.',
    hint: 'See `pi-lanes worktrees`.',
  },
  worktree_in_removal: {
    message: 'Nobody can work in the worktree {path} any more: it is being removed, or is gone.',
    hint: 'Start a run with a worktree of its own.',
  },
  handoff_invalid: {
    message: 'What run {runId} has to hand over contradicts itself or cannot be read: {reason}.',
    hint: 'Its worktrees stay. See `pi-lanes worktrees`.',
  },
  lane_evidence_unreadable: {
    message: 'What was attested of a lane cannot be read: {path}: {reason}.',
    hint: 'Put the file aside and record it again.',
  },
  'lane_refused:active': {
    message: 'Nothing can be recorded about {runId}: not all of its children are proven to have ended.',
    hint: 'Wait for its end, or stop it.',
  },
  'lane_refused:none': {
    message: 'Nothing can be recorded about {runId}: it has no worktree to hand over.',
    hint: 'See `pi-lanes worktrees`.',
  },
  'lane_refused:other': {
    message: 'The lane {laneId} was named, and the manifest is that of {runId}.',
    hint: 'Name the run whose worktrees are meant.',
  },
  'lane_refused:itself': {
    message: '{runId} cannot be superseded by itself.',
    hint: 'Name the run that takes its place.',
  },
  'lane_refused:stale': {
    message: 'The merge that is recorded for {runId} was reviewed at {head}, not at {other}.',
    hint: 'See `pi-lanes lanes status {runId}`. What was recorded stays.',
  },
  'lane_refused:different': {
    message: 'Other evidence is recorded for {runId} already: {what}.',
    hint: 'See `pi-lanes lanes status {runId}`. What was recorded stays.',
  },
  'lane_refused:field': {
    message: 'The evidence cannot be recorded: {faults}.',
    hint: 'See `pi-lanes lanes --help`.',
  },
  'result_unsaved:whole': {
    message: 'The workflow is over, but {file} could not be written: {reason}',
    hint: 'See that a file can be written there, then continue the run: nothing that had ended is started again.',
    cli: 'See that a file can be written there, then use `pi-lanes continue RUN`: nothing that had ended is started again.',
  },
  'result_unsaved:workflow': {
    message: 'What {key} came to could not be kept for the script: {reason}',
    hint: 'Make the folder of the run writable, then continue it: what had ended is not started again.',
    cli: 'Make the folder of the run writable, then use `pi-lanes continue RUN`: what had ended is not started again.',
  },

  // Everything else. Errors that are not ours are `internal` with the words they came with.
  'internal:runtime': { message: 'The runtime could not be copied to {folder}: {reason}.' },
} as const satisfies Record<string, ErrorText>;

export type ErrorTextId = keyof typeof ERROR_TEXTS;
