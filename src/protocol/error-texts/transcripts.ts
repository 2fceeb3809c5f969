/** Reading transcripts. */
import type { ErrorText } from './error-text.ts';

const AS_TEXT = 'Close the transcript and open it as text.';

export const TRANSCRIPTS = {
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
} as const satisfies Record<string, ErrorText>;
