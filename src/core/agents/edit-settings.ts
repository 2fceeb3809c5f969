/**
 * One value in a file of settings is written or removed; everything else of it, spaces included, stays as it is. Pi's settings
 * are other programs' too: what changed between reading and writing is never written over.
 */
import { mkdir, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { applyEdits, findNodeAtLocation, modify, parseTree } from 'jsonc-parser';
import { lanesError, wordsOf } from '../../protocol/index.ts';
import { errnoOf, readRegular, writeFileAtomic } from '../files/index.ts';

type Path = readonly string[];

/**
 * @param value `undefined`: removed, together with objects that become empty by that
 * @returns false when the file said so already
 * @throws LanesError `config_invalid` for a file that is no JSON, `config_changed` when somebody else writes it at the same time
 */
export async function editSetting(given: string, path: Path, value: boolean | undefined): Promise<boolean> {
  const file = await targetOf(given);
  const before = await textOf(file);
  const after = edited(file, before ?? '{}\n', path, value);
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

function edited(file: string, given: string, path: Path, value: boolean | undefined): string | undefined {
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
  if (found ? found.value === value && found.type === 'boolean' : value === undefined) return undefined;
  return (
    mark + applyEdits(text, modify(text, pathOfEdit(text, path, value), value, { formattingOptions: styleOf(text) }))
  );
}

/** What is removed: the value, or the outermost object that would be left empty. */
function pathOfEdit(text: string, path: Path, value: boolean | undefined): string[] {
  if (value !== undefined) return [...path];
  const tree = parseTree(text);
  let last = path.length;
  while (last > 1) {
    const above = tree && findNodeAtLocation(tree, path.slice(0, last - 1));
    if ((above?.children?.length ?? 0) > 1) break;
    last--;
  }
  return path.slice(0, last);
}

function styleOf(text: string) {
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}
