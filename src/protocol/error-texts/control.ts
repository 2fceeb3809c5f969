/** Controlling a run. */
import type { ErrorText } from './error-text.ts';

const CLOSE_PI = {
  hint: 'Close that Pi, or resume on a copy of the session (fork): two that write one session lose what one of them says.',
  cli: 'Close that Pi, or use `pi-lanes resume RUN --fork`: two that write one session lose what one of them says.',
} as const;

export const CONTROL = {
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
} as const satisfies Record<string, ErrorText>;
