/** The text of a `settings.json` with one override of an agent changed. Everything else stays as it is. */
import { applyEdits, findNodeAtLocation, modify, parseTree } from 'jsonc-parser';
import { lanesError, wordsOf } from '../../protocol/index.ts';

const OVERRIDES = ['subagents', 'agentOverrides'] as const;

/**
 * @param given `undefined`: there is no such file yet
 * @param field of the override of the agent; absent: all of it
 * @param value `undefined` takes it away, and with it what is empty then
 * @returns the new text; the given one when there was nothing to change
 * @throws LanesError `agent_config_invalid` when the file is no JSON
 */
export function editOverride(
  given: string | undefined,
  { agent, field, value }: { agent: string; field?: string; value?: unknown },
  file: string,
): string | undefined {
  const path: string[] = [...OVERRIDES, agent, ...(field === undefined ? [] : [field])];
  const mark = given?.startsWith('\uFEFF') ? '\uFEFF' : '';
  const before = given?.slice(mark.length);
  checkObjects(before, path, file);
  if (before === undefined) {
    return value === undefined ? undefined : `${JSON.stringify(nested(path, value), null, 2)}\n`;
  }
  if (value !== undefined) return mark + put(before, path, value);
  if (!has(before, path)) return given;
  let text = put(before, path, undefined);
  for (let depth = path.length - 1; depth > 0 && isEmpty(text, path.slice(0, depth)); depth--)
    text = put(text, path.slice(0, depth), undefined);
  return mark + text;
}

function checkObjects(text: string | undefined, path: readonly string[], file: string): void {
  if (text === undefined) return;
  try {
    JSON.parse(text);
  } catch (error) {
    throw lanesError('agent_config_invalid:settings', { file, reason: wordsOf(error) });
  }
  for (let depth = 0; depth < path.length; depth++) {
    const node = nodeAt(text, path.slice(0, depth));
    if (node && node.type !== 'object') {
      const reason = `${path.slice(0, depth).join('.') || 'all of it'} is no object`;
      throw lanesError('agent_config_invalid:settings', { file, reason });
    }
  }
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, name) => ({ [name]: inner }), value);
}

function put(text: string, path: readonly string[], value: unknown): string {
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  return applyEdits(text, modify(text, [...path], value, { formattingOptions }));
}

function nodeAt(text: string, path: readonly string[]) {
  const tree = parseTree(text);
  return tree && findNodeAtLocation(tree, [...path]);
}

function has(text: string, path: readonly string[]): boolean {
  return nodeAt(text, path) !== undefined;
}

function isEmpty(text: string, path: readonly string[]): boolean {
  const node = nodeAt(text, path);
  return node?.type === 'object' && (node.children ?? []).length === 0;
}
