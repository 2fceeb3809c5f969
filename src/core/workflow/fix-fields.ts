/** Fixes within one object literal. */
import type { ObjectExpression, Property } from 'acorn';
import { type FindingFix, type Phrase, say } from '../../protocol/index.ts';
import type { Script, TextEdit } from './script.ts';

export interface Fix {
  kind: FindingFix['kind'];
  title: Phrase;
  safe: boolean;
  edits: TextEdit[];
}

const TEN_MINUTES = 600_000;

/** Ten minutes are enough for most builds and tests; a step without a limit cannot run at all. */
export function addTimeout(node: ObjectExpression): Fix {
  const last = node.properties.at(-1);
  const text = `timeoutMs: ${TEN_MINUTES}`;
  const edit = last
    ? { start: last.end, end: last.end, text: `, ${text}` }
    : { start: node.start + 1, end: node.end - 1, text: ` ${text} ` };
  return { kind: 'add_timeout', title: say('fix:add_timeout', { timeoutMs: TEN_MINUTES }), safe: true, edits: [edit] };
}

/** Removes every definition of a field, with its comma. */
export function removeField(script: Script, node: ObjectExpression, name: string): Fix | undefined {
  const edits = node.properties.flatMap((property, index) => {
    if (property.type !== 'Property' || property.computed || nameOf(property) !== name) return [];
    const next = node.properties[index + 1];
    const before = node.properties[index - 1];
    if (next) return [{ start: property.start, end: next.start, text: '' }];
    return [{ start: before ? before.end : property.start, end: property.end, text: '' }];
  });
  // A comment beside the field would go or stay without being asked.
  const touched = edits.map(({ start, end }) => script.text.slice(start, end)).join('');
  if (edits.length !== 1 || /\/[/*]/.test(touched)) return undefined;
  return { kind: 'remove_field', title: say('fix:remove_field', { name }), safe: false, edits };
}

export function renameField(property: Property, name: string): Fix | undefined {
  if (property.computed || property.shorthand || property.method || property.kind !== 'init') return undefined;
  const edits = [{ start: property.key.start, end: property.key.end, text: name }];
  return { kind: 'rename_field', title: say('fix:rename', { name }), safe: false, edits };
}

function nameOf({ key }: Property): string | undefined {
  return key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : undefined;
}
