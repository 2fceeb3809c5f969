import type { Command } from '../../protocol/index.ts';

/** A command line as the shell of this system runs it. Only for what a person wrote as a command line. */
export function shellCommand(text: string, platform: NodeJS.Platform = process.platform): Command {
  return platform === 'win32'
    ? { file: process.env['ComSpec'] ?? 'cmd.exe', args: ['/d', '/s', '/c', `"${text}"`] }
    : { file: '/bin/sh', args: ['-c', text] };
}
