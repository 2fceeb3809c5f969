/** The bodies that a journal names. What is not what the run had written is refused, never taken for it. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { lanesError, type StoredFile, wordsOf } from '../../protocol/index.ts';
import { readRegular } from '../files/index.ts';

/** @throws LanesError `run_unreadable` naming the file when it is missing, cannot be read, or is not as it was written */
export async function readStored(directory: string, { file, sha256 }: StoredFile): Promise<string> {
  const path = join(directory, file);
  let text: string;
  try {
    text = await readRegular(path);
  } catch (error) {
    throw lanesError('run_unreadable:body', { file: path, reason: wordsOf(error) }, { cause: error });
  }
  if (digestOf(text) !== sha256) throw lanesError('run_unreadable:changed', { file: path });
  return text;
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
