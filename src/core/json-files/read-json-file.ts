import type * as z from 'zod/mini';
import { describeFaults, lanesError, wordsOf } from '../../protocol/index.ts';
import { errnoOf, readRegular } from '../files/index.ts';

/**
 * What a schema wants of a file of settings. A byte order mark is not JSON, but is read over.
 *
 * @returns `undefined` when there is no file
 * @throws LanesError `config_invalid` naming the file, the field and the rule
 */
export async function readJsonFile<T>(file: string, schema: z.ZodMiniType<T>): Promise<T | undefined> {
  let text: string;
  try {
    text = (await readRegular(file)).replace(/^\uFEFF/, '');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return undefined;
    throw lanesError('config_invalid:unreadable', { file, reason: wordsOf(error) });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw lanesError('config_invalid:json', { file, reason: wordsOf(error) });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw lanesError('config_invalid:field', { file, faults: describeFaults(parsed.error) });
}
