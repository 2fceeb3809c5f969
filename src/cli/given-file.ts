/** Files that a person names on the command line; `-` is standard input. */
import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import { errnoOf } from '../core/files/index.ts';
import { type LanesError, lanesError, wordsOf } from '../protocol/index.ts';

/** The text without a byte order mark: editors do not count it as a column. @param refuse makes an error of why it cannot be read */
export async function readGiven(path: string, refuse: (reason: string) => LanesError): Promise<string> {
  try {
    const text = path === '-' ? await readStream(process.stdin) : await readFile(path, 'utf8');
    return text.replace(/^\uFEFF/, '');
  } catch (error) {
    throw refuse(whyUnread(error));
  }
}

/** @param path as messages name it */
export function scriptUnreadable(path: string, reason: string): LanesError {
  return reason === A_FOLDER
    ? lanesError('script_unreadable:no-file', { path })
    : lanesError('script_unreadable', { path, reason });
}

const A_FOLDER = 'it is a folder';

/** The system's own words name the path a second time. */
function whyUnread(error: unknown): string {
  switch (errnoOf(error)) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EISDIR':
      return A_FOLDER;
    case 'EACCES':
      return 'it may not be read';
    default:
      return wordsOf(error);
  }
}
