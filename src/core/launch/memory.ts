/** What an agent remembers across tasks: a file below a folder of memories, of the project or of the user. */
import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { AgentContract } from '../../protocol/index.ts';
import { errnoOf, readRegular } from '../files/index.ts';

const MAX_LINES = 200;
const MAX_BYTES = 16 * 1024;

/** Null: it would lie outside of the folder of memories, or there is no project. Nothing is made: an agent that writes makes it. */
export async function readMemory(
  { scope, path }: NonNullable<AgentContract['memory']>,
  { project, agentDir }: { project: string | undefined; agentDir: string },
): Promise<{ file: string; text: string | null } | null> {
  const base = scope === 'user' ? agentDir : project && join(project, '.pi');
  if (base === undefined) return null;
  const root = join(base, 'agent-memory');
  const file = join(root, ...path.split(/[\\/]+/).filter(Boolean), 'MEMORY.md');
  if (!(await isWithin(root, file))) return null;
  try {
    return { file, text: beginning(await readRegular(file)) };
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? { file, text: null } : null;
  }
}

/** No part of it that is there leads out of the folder, and the folder is no link itself. */
async function isWithin(root: string, file: string): Promise<boolean> {
  try {
    if ((await lstat(root)).isSymbolicLink()) return false;
    const real = await realpath(root);
    for (let at = file; at.length > root.length; at = dirname(at)) {
      const there = await realpath(at).catch(() => undefined);
      if (there !== undefined) return there === real || there.startsWith(real + sep);
      // A link that leads to nothing yet may lead anywhere later.
      if (
        await lstat(at).then(
          () => true,
          () => false,
        )
      )
        return false;
    }
    return true;
  } catch (error) {
    return errnoOf(error) === 'ENOENT';
  }
}

/** Its first lines, whole, and not more bytes than a prompt should bear. */
function beginning(text: string): string | null {
  const lines = text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .trimEnd()
    .split('\n')
    .slice(0, MAX_LINES);
  while (lines.length > 1 && Buffer.byteLength(lines.join('\n')) > MAX_BYTES) lines.pop();
  const kept = Buffer.from(lines.join('\n'))
    .subarray(0, MAX_BYTES)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
  return kept === '' ? null : kept;
}
