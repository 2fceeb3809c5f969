/** Where a child of a workflow writes, by what the script says and by what the workflow was launched with. Pure. */
import { join, parse, resolve } from 'node:path';

/** What outputs of children and of host commands lie in, absolute. */
export interface OutputFolders {
  /** What relative outputs of children are relative to. */
  children: string;
  /** The same of host commands. */
  hosts: string;
  /** The file that what the workflow returns is written to: children that name no output write beside it. Absent: they write none. */
  aggregate?: string;
}

const KEY_BYTES = 120;
/** What file systems take as one name. */
const NAME_BYTES = 255;

/** Absolute; `undefined`: it writes no file. */
export function childOutput(
  { children, aggregate }: Pick<OutputFolders, 'children' | 'aggregate'>,
  key: string,
  { output }: Readonly<Record<string, unknown>>,
): string | undefined {
  if (output === undefined) return aggregate === undefined ? undefined : siblingOutput(aggregate, key);
  return typeof output === 'string' && output.trim() !== '' ? resolve(children, output.trim()) : undefined;
}

/** `<name>.<key><extension, or .md>` in the same folder. */
function siblingOutput(aggregate: string, key: string): string {
  const { dir, name, ext } = parse(aggregate);
  const end = `.${pathWord(key)}${ext.length > 1 ? ext : '.md'}`;
  return join(dir, `${cutToBytes(name, NAME_BYTES - Buffer.byteLength(end))}${end}`);
}

/** A key as the name of a file or folder. */
export function pathWord(key: string): string {
  return key.replace(/[^A-Za-z0-9._-]+/g, '_').slice(0, KEY_BYTES) || '_';
}

/** Whole characters of it, as many as fit. */
function cutToBytes(text: string, max: number): string {
  const characters = [...text];
  let bytes = Buffer.byteLength(text);
  while (bytes > max && characters.length > 0) bytes -= Buffer.byteLength(characters.pop() ?? '');
  return characters.join('');
}
