// Pictures of every state in every theme, into artifacts/shots. Usage: npm run shots [-- <state> …]; states: test/shots/states.ts.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareEditor } from '../test/harness/prepare.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'artifacts', 'shots');
const states = process.argv.slice(2);
// A picture of a state that is gone would be taken for a new one.
if (states.length === 0) rmSync(folder, { recursive: true, force: true });
await prepareEditor();
const child = spawn(join(root, 'node_modules', '.bin', 'vitest'), ['run', '--project', 'shots'], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PI_LANES_SHOTS: folder, PI_LANES_SHOT_STATES: states.join(' ') },
});
child.on('exit', (code) => {
  console.log(`Pictures: ${folder}`);
  process.exit(code ?? 1);
});
