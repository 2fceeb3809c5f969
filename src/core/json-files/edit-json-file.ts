/**
 * One value in a file of settings is written or removed; everything else of it, spaces included, stays as it is. Pi's settings
 * are other programs' too: what changed between reading and writing is never written over.
 */
import { mkdir, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { applyEdits, type Edit, findNodeAtLocation, getNodeValue, modify, type Node, parseTree } from 'jsonc-parser';
import { canonicalJson, lanesError, wordsOf } from '../../protocol/index.ts';
import { errnoOf, readRegular, writeFileAtomic } from '../files/index.ts';

type Path = readonly string[];

/** A file that does not say anything yet. */
export const EMPTY_JSON = '{}\n';

/**
 * @param value JSON; `undefined`: removed, together with objects that become empty by that
 * @returns false when the file said so already
 * @throws LanesError `config_invalid` for a file that is no JSON, `config_changed` when somebody else writes it at the same time
 */
export async function editJsonFile(given: string, path: Path, value: unknown): Promise<boolean> {
  const file = await targetOf(given);
  const before = await textOf(file);
  const after = editedJson(file, before ?? EMPTY_JSON, path, value);
  if (after === undefined) return false;
  const mode = await stat(file).then(
    (info) => info.mode & 0o777,
    () => 0o644,
  );
  await mkdir(dirname(file), { recursive: true });
  if ((await textOf(file)) !== before) throw lanesError('config_changed', { file });
  try {
    await writeFileAtomic(file, after, { mode });
  } catch (error) {
    throw lanesError('config_unwritable', { file, reason: wordsOf(error) }, { cause: error });
  }
  return true;
}

/** People keep such files elsewhere and link to them: the link stays. */
async function targetOf(file: string): Promise<string> {
  return realpath(file).catch(() => file);
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readRegular(file);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw lanesError('config_invalid:unreadable', { file, reason: wordsOf(error) }, { cause: error });
  }
}

/**
 * The same of a text.
 *
 * @param file as refusals name it
 * @returns `undefined` when the text says so already
 */
export function editedJson(file: string, given: string, path: Path, value: unknown): string | undefined {
  // A byte order mark is not JSON, but stays.
  const mark = given.startsWith('\uFEFF') ? '\uFEFF' : '';
  const text = given.slice(mark.length);
  try {
    JSON.parse(text);
  } catch (error) {
    throw lanesError('config_invalid:json', { file, reason: wordsOf(error) }, { cause: error });
  }
  const tree = parseTree(text);
  for (let depth = 0; depth < path.length; depth++) {
    const above = tree && findNodeAtLocation(tree, path.slice(0, depth));
    if (above && above.type !== 'object') {
      const field = path.slice(0, depth).join('.') || 'the file';
      throw lanesError('config_invalid:field', { file, faults: `${field}: must be an object` });
    }
  }
  const found = tree && findNodeAtLocation(tree, [...path]);
  const isSo = found && value !== undefined && canonicalJson(getNodeValue(found)) === canonicalJson(value);
  if (isSo || (!found && value === undefined)) return undefined;
  return mark + applyEdits(text, value === undefined ? removal(text, path) : [insertion(text, tree, path, value)]);
}

/** Without the library's own layout, which covers what stands beside the place as well. */
function removal(text: string, path: Path): Edit[] {
  return modify(text, pathOfRemoval(text, path), undefined, {});
}

/** The value in the place of the old one, or as the last property of the deepest object of its path that is there. */
function insertion(text: string, tree: Node | undefined, path: Path, value: unknown): Edit {
  const layout = layoutOf(text);
  const found = tree && findNodeAtLocation(tree, [...path]);
  if (found) return { offset: found.offset, length: found.length, content: laidOut(value, path.length, layout) };
  let depth = path.length - 1;
  let parent = tree && findNodeAtLocation(tree, path.slice(0, depth));
  while (!parent && depth > 0) {
    depth -= 1;
    parent = tree && findNodeAtLocation(tree, path.slice(0, depth));
  }
  const inner = path.slice(depth + 1).reduceRight<unknown>((nested, name) => ({ [name]: nested }), value);
  const line = (level: number) => layout.eol + layout.indent.repeat(level);
  const property = `${line(depth + 1)}${JSON.stringify(path[depth])}: ${laidOut(inner, depth + 1, layout)}`;
  const last = parent?.children?.at(-1);
  if (last) return { offset: last.offset + last.length, length: 0, content: `,${property}` };
  const { offset = 0, length = 0 } = parent ?? {};
  return { offset, length, content: `{${property}${line(depth)}}` };
}

interface Layout {
  indent: string;
  eol: string;
}

function laidOut(value: unknown, level: number, { indent, eol }: Layout): string {
  return JSON.stringify(value, undefined, indent)
    .split('\n')
    .join(eol + indent.repeat(level));
}

/** What is removed: the value, or the outermost object that would be left empty. */
function pathOfRemoval(text: string, path: Path): string[] {
  const tree = parseTree(text);
  let last = path.length;
  while (last > 1) {
    const above = tree && findNodeAtLocation(tree, path.slice(0, last - 1));
    if ((above?.children?.length ?? 0) > 1) break;
    last--;
  }
  return path.slice(0, last);
}

/** As the file has it already. */
function layoutOf(text: string): Layout {
  return { indent: /\n([ \t]+)"/.exec(text)?.[1] ?? '  ', eol: text.includes('\r\n') ? '\r\n' : '\n' };
}
