// Starts the program named by its arguments and ends its whole process group when the process that started the guard is
// gone, however it went: its end of our standard input closes even when it was killed.
import { spawn } from 'node:child_process';

const [program, ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
child.on('exit', (code) => process.exit(code ?? 1));
child.on('error', (error) => {
  console.error(String(error));
  process.exit(1);
});

// A signal to the group reaches the program as well; the guard leaves after it, so that it is not left unwaited.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

process.stdin.resume();
process.stdin.on('close', () => {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // no process groups on this platform
    process.exit(1);
  }
});
