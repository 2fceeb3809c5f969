/** Schemas of what a child gives as its answer: which can be used, and what is wrong with a value. */
import { compile } from '@earendil-works/pi-schema';
import {
  lanesError,
  MAX_OUTPUT_SCHEMA_BYTES,
  MAX_STRUCTURED_OUTPUT_BYTES,
  type OutputSchema,
  wordsOf,
} from '../../protocol/index.ts';

/** Faults of one value that are told. */
const MAX_FAULTS = 8;

export type SchemaRefusal =
  | { rule: 'root'; found: string }
  | { rule: 'size'; bytes: number; max: number }
  | { rule: 'unusable'; reason: string };

/** Why no child can be asked for values of this schema; `undefined`: it can. */
export function refuseSchema(schema: OutputSchema): SchemaRefusal | undefined {
  const { type } = schema;
  if (type !== 'object') return { rule: 'root', found: type === undefined ? 'missing' : JSON.stringify(type) };
  try {
    const bytes = Buffer.byteLength(JSON.stringify(schema));
    if (bytes > MAX_OUTPUT_SCHEMA_BYTES) return { rule: 'size', bytes, max: MAX_OUTPUT_SCHEMA_BYTES };
    compile(schema);
    return undefined;
  } catch (error) {
    return { rule: 'unusable', reason: wordsOf(error) };
  }
}

/** What is wrong with a value, at most eight lines of `path: fault`. */
export function outputFaults(schema: OutputSchema, value: unknown): string[] {
  let faults: string[];
  try {
    faults = compile(schema)
      .errors(value)
      .map(({ path, message }) => `${path === '' ? 'the value' : path}: ${message}`);
  } catch (error) {
    return [`the value: it cannot be checked: ${wordsOf(error)}`];
  }
  if (faults.length > MAX_FAULTS)
    return [...faults.slice(0, MAX_FAULTS - 1), `and ${faults.length - MAX_FAULTS + 1} more`];
  if (faults.length > 0) return faults;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > MAX_STRUCTURED_OUTPUT_BYTES
    ? [`the value: it has ${bytes} bytes as JSON; the limit is ${MAX_STRUCTURED_OUTPUT_BYTES}`]
    : [];
}

/** Throws `launch_invalid` with the rule a schema breaks. */
export function checkSchema(schema: OutputSchema | undefined): void {
  const refusal = schema && refuseSchema(schema);
  switch (refusal?.rule) {
    case 'root':
      throw lanesError('launch_invalid:schema-root', { found: refusal.found });
    case 'size':
      throw lanesError('launch_invalid:schema-size', { bytes: refusal.bytes, max: refusal.max });
    case 'unusable':
      throw lanesError('launch_invalid:schema-unusable', { reason: refusal.reason });
    default:
  }
}
