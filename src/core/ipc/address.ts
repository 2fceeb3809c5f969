import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { lanesError } from '../../protocol/index.ts';
import { makeCheckedFolder } from '../files/index.ts';

/**
 * Longest socket path in bytes. Systems take 103 (macOS) or 107 (Linux); beyond that Node 24 answers EINVAL and Node 20
 * cuts silently, so that two runs would share one socket.
 */
export const MAX_SOCKET_PATH_BYTES = 100;

/** A new address for a runner: a socket in a private folder, or a named pipe on Windows. */
export async function newAddress(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
  temp: string = tmpdir(),
): Promise<string> {
  if (platform === 'win32') return `\\\\.\\pipe\\pi-lanes-${randomBytes(16).toString('hex')}`;
  // A relative folder would lie in whatever project one stands in.
  const configured = env['XDG_RUNTIME_DIR'];
  const runtime = configured && isAbsolute(configured) ? configured : undefined;
  const folder = runtime ? join(runtime, 'pi-lanes') : join(temp, `pi-lanes-${process.getuid?.() ?? 'user'}`);
  const path = join(folder, `${randomBytes(8).toString('hex')}.sock`);
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    throw lanesError('socket_path_too_long', {
      path,
      bytes,
      max: MAX_SOCKET_PATH_BYTES,
      variable: runtime ? 'XDG_RUNTIME_DIR' : 'TMPDIR',
    });
  }
  await makeCheckedFolder(folder);
  return path;
}
