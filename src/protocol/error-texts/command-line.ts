/** The command line. */
import type { ErrorText } from './error-text.ts';

const HELP = 'See `pi-lanes help`.';

export const COMMAND_LINE = {
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
  'launch_invalid:no-branch': {
    message: 'The worktree or the name of the branch is missing.',
    hint: 'Both are needed: `pi-lanes branch RUN/KEY NAME`.',
  },
  'launch_invalid:with-undo': {
    message: '{option} does not go with --undo.',
    hint: 'What was applied is taken back as a whole.',
  },
  'launch_invalid:lanes-missing': {
    message: '"lanes {action}" needs {options}.',
    hint: 'See `pi-lanes lanes --help`.',
  },
  'launch_invalid:lanes-pr': {
    message: '{option} is "{value}".',
    hint: 'It must be the number of the pull request, a whole number from 1.',
  },
  'launch_invalid:lanes-commit': {
    message: '{option} is "{value}".',
    hint: 'It must be the full hash of a commit; `git rev-parse NAME` prints it.',
  },
  'launch_invalid:lanes-choice': { message: '{option} is "{value}".', hint: 'It must be one of {allowed}.' },
  'launch_invalid:lanes-words': {
    message: '{option} is "{value}".',
    hint: 'It must be one line of 1 to 128 bytes.',
  },
  'launch_invalid:lanes-time': {
    message: '{option} is "{value}".',
    hint: 'It must be a date and a time, as 2026-01-31T12:00:00Z.',
  },
  'launch_invalid:no-plan': {
    message: 'The plan is missing.',
    hint: 'Make one: `pi-lanes cleanup plan`; it says how it is applied.',
  },
  'launch_invalid:cleanup-time': {
    message: '--timeout is "{value}".',
    hint: 'It must be a number of seconds above 0.',
  },
  'launch_invalid:cleanup-action': {
    message: 'There is no "cleanup {action}".',
    hint: 'There are: cleanup, cleanup plan, cleanup apply PLAN, cleanup finish.',
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
  'launch_invalid:import-file': {
    message: 'The agent to import cannot be read from {file}: {reason}.',
    hint: 'Name a Markdown file with the definition of an agent.',
  },
  'launch_invalid:no-import-file': {
    message: 'No file to import is named.',
    hint: 'Name the file of an agent, as in: pi-lanes agents import ~/.claude/agents/reviewer.md',
  },
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
} as const satisfies Record<string, ErrorText>;
