/** What lies in a folder, as the system tells it: git passes over much that is there. Names are bytes. */
import { lstat, readdir } from 'node:fs/promises';

export interface Leaf {
  /** Relative, with `/`. */
  path: Buffer;
  /** A symbolic link, or a junction of Windows; it is not followed. */
  link: boolean;
}

export interface Walk {
  leaves: Leaf[];
  /** Folders below that have a `.git` of their own; nothing in them is listed. */
  repositories: Buffer[];
}

const SLASH = Buffer.from('/');

/** Files and links below a folder, the `.git` of the folder itself left out. Pipes and sockets have no content and are left out too. */
export async function walkFiles(folder: string): Promise<Walk> {
  const walk: Walk = { leaves: [], repositories: [] };
  const open: Buffer[] = [Buffer.alloc(0)];
  for (let at = open.pop(); at; at = open.pop()) {
    const entries = await readdir(inFolder(folder, at), { withFileTypes: true, encoding: 'buffer' });
    const isRoot = at.length === 0;
    if (!isRoot && entries.some(({ name }) => isGit(name))) {
      walk.repositories.push(at);
      continue;
    }
    for (const entry of entries) {
      if (isRoot && isGit(entry.name)) continue;
      const path = isRoot ? entry.name : Buffer.concat([at, SLASH, entry.name]);
      if (entry.isDirectory()) open.push(path);
      else if (entry.isFile() || entry.isSymbolicLink()) walk.leaves.push({ path, link: entry.isSymbolicLink() });
    }
  }
  return walk;
}

/** Where a relative path of bytes is. */
export function inFolder(folder: string, path: Buffer): Buffer {
  return path.length === 0 ? Buffer.from(folder) : Buffer.concat([Buffer.from(folder), SLASH, path]);
}

/** Whether there is anything at a path. Throws when that cannot be told. */
export async function isThere(path: Buffer): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'ENOENT' || code === 'ENOTDIR') return false;
      throw error;
    },
  );
}

function isGit(name: Buffer): boolean {
  return name.equals(Buffer.from('.git'));
}

/** The key of a path of bytes in maps: one character for each byte. */
export function keyOf(path: Buffer): string {
  return path.toString('latin1');
}

/** A path as text, and its bytes where the text does not give them. */
export function textOfPath(path: Buffer): { path: string; raw?: string } {
  const text = path.toString('utf8');
  return Buffer.from(text, 'utf8').equals(path) ? { path: text } : { path: text, raw: path.toString('base64') };
}
