import type * as z from 'zod/mini';
import { describeFaults, lanesError, wordsOf } from '../../protocol/index.ts';
import { errnoOf, readRegular } from '../files/index.ts';

/**
 * The part of the shared file that a schema is about.
 *
 * @returns `undefined` when there is no file
 * @throws LanesError `config_invalid` naming the file, the field and the rule
 */
export async function readConfig<T>(path: string, schema: z.ZodMiniType<T>): Promise<T | undefined> {
  let text: string;
  try {
    text = await readRegular(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw lanesError('config_invalid:unreadable', { file: path, reason: wordsOf(error) });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw lanesError('config_invalid:json', { file: path, reason: wordsOf(error) });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw lanesError('config_invalid:field', { file: path, faults: describeFaults(parsed.error) });
}
