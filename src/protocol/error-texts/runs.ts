/** Reading runs. */
import type { ErrorText } from './error-text.ts';

export const RUNS = {
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
} as const satisfies Record<string, ErrorText>;
