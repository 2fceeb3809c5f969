import { ScriptError } from './script-error.ts';

export interface Marker {
  readonly name: string;
  /** Object or array from JSON, or an object of strings from `key=value` pairs; `{}` when nothing follows. */
  readonly args: unknown;
}

/**
 * Finds the first `SCRIPT:<name>` in a text, with the arguments that follow it on the same line:
 * either one JSON object or array (`SCRIPT:say {"text":"hi"}`; it may go on over several lines), or
 * `key=value` and `key="two words"` pairs (`SCRIPT:huge bytes=2000000 please`; the first other word ends them).
 *
 * @throws ScriptError when the text after the name begins like JSON and is not
 */
export function findMarker(text: string): Marker | undefined {
  const found = /SCRIPT:([a-z0-9]+(?:-[a-z0-9]+)*)[ \t]*/.exec(text);
  const name = found?.[1];
  if (!found || name === undefined) return undefined;
  const rest = found.index + found[0].length;
  const opener = text[rest];
  return { name, args: opener === '{' || opener === '[' ? readJson(text, rest, name) : readPairs(text, rest) };
}

function readJson(text: string, start: number, name: string): unknown {
  const end = endOfJson(text, start);
  if (end === undefined) throw new ScriptError(`SCRIPT:${name}: the JSON argument is not closed`);
  try {
    const value: unknown = JSON.parse(text.slice(start, end));
    return value;
  } catch (error) {
    throw new ScriptError(`SCRIPT:${name}: the JSON argument cannot be read: ${String(error)}`);
  }
}

/** Offset just behind the bracket that closes the one at `start`; brackets inside strings do not count. */
function endOfJson(text: string, start: number): number | undefined {
  const token = /"(?:[^"\\]|\\.)*"|[[\]{}]/gs;
  token.lastIndex = start;
  let depth = 0;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    if (match[0] === '{' || match[0] === '[') depth += 1;
    if (match[0] === '}' || match[0] === ']') depth -= 1;
    if (depth === 0) return token.lastIndex;
  }
  return undefined;
}

function readPairs(text: string, start: number): Record<string, string> {
  const pair = /([A-Za-z][\w-]*)=(?:"([^"]*)"|([^\s"]\S*))[ \t]*/y;
  pair.lastIndex = start;
  const args: Record<string, string> = {};
  for (let match = pair.exec(text); match; match = pair.exec(text)) {
    const [, key, quoted, plain] = match;
    if (key !== undefined) args[key] = quoted ?? plain ?? '';
  }
  return args;
}
