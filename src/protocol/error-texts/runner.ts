/** The runner. */
import type { ErrorText } from './error-text.ts';

const FORCE_STOP = {
  hint: 'If this lasts, use Force Stop.',
  cli: 'If this lasts, use `pi-lanes force-stop RUN`.',
} as const;

export const RUNNER = {
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
} as const satisfies Record<string, ErrorText>;
