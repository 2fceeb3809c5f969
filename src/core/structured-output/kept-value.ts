/** The value a child has given: one file in the child's folder, written by the child, read by its runner. */
import { type OutputSchema, wordsOf } from '../../protocol/index.ts';
import { errnoOf, readRegular, writeFileAtomic } from '../files/index.ts';
import { outputFaults } from './output-schema.ts';

export type KeptValue =
  | { state: 'given'; value: unknown }
  | { state: 'none' }
  | { state: 'unusable'; faults: string[] };

/** Durable when it returns: the child is told that its answer is taken only after that. */
export function keepValue(path: string, value: unknown): Promise<void> {
  return writeFileAtomic(path, `${JSON.stringify(value)}\n`);
}

/** Checked once more: the child works on the same disk and may have written the file by itself. */
export async function readKeptValue(path: string, schema: OutputSchema): Promise<KeptValue> {
  try {
    const value: unknown = JSON.parse(await readRegular(path));
    const faults = outputFaults(schema, value);
    return faults.length === 0 ? { state: 'given', value } : { state: 'unusable', faults };
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? { state: 'none' } : { state: 'unusable', faults: [wordsOf(error)] };
  }
}
