/** What a person types for an input of a script: JSON, or text as it is. */
import type { ScriptInput } from '../../protocol/index.ts';

/** What is wrong with a typed value. `reason`: the words of the parser. */
export type InputFault = { kind: 'missing' } | { kind: 'json'; reason: string } | { kind: 'list' };

/** `undefined` as value: the input is left out. */
export type TypedValue = { value: unknown } | { fault: InputFault };

/** Texts that can only be meant as JSON: `[`, `{` and `"` begin them, and so does no sentence that is meant as text. */
const BEGINS_JSON = /^[[{"]/;

/** Numbers, `true`, `false` and `null` are JSON; everything else that does not begin like JSON is text. */
export function readTyped(
  text: string,
  { isOptional, isList }: Pick<ScriptInput, 'isOptional' | 'isList'>,
): TypedValue {
  const typed = text.trim();
  if (typed === '') return isOptional ? { value: undefined } : { fault: { kind: 'missing' } };
  const value = parsed(typed);
  if ('value' in value) return isList && !Array.isArray(value.value) ? { fault: { kind: 'list' } } : value;
  if (BEGINS_JSON.test(typed)) return { fault: { kind: 'json', reason: value.reason } };
  return isList ? { fault: { kind: 'list' } } : { value: typed };
}

/** All arguments as one JSON value; nothing typed: none. */
export function readTypedWhole(text: string): TypedValue {
  const typed = text.trim();
  if (typed === '') return { value: undefined };
  const value = parsed(typed);
  return 'value' in value ? value : { fault: { kind: 'json', reason: value.reason } };
}

/** How a value is typed again. A text that would be read as JSON gets its quotes. */
export function toTyped(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') return JSON.stringify(value);
  const again = readTyped(value, { isOptional: true, isList: false });
  return 'value' in again && again.value === value ? value : JSON.stringify(value);
}

function parsed(text: string): { value: unknown } | { reason: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) };
  }
}
