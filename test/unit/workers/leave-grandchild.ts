/**
 * Starts a process in a session of its own, without pipes, prints its pid, and goes on (`stay`) or ends (`leave`), so that
 * the grandchild is nobody's child any more. With `bare` the grandchild gets an empty environment.
 */
import { spawn } from 'node:child_process';

const env = process.argv.includes('bare') ? {} : process.env;
const script = 'setInterval(() => {}, 1000)';
const grandchild = spawn(process.execPath, ['-e', script], { detached: true, stdio: 'ignore', env });
grandchild.unref();
process.stdout.write(`${grandchild.pid}\n`);
if (process.argv[2] === 'stay') setInterval(() => {}, 1000);
