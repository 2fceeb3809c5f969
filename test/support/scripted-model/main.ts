// The scripted model as a process of its own: node main.ts [--port <n>]
// Prints one JSON line {"url","port"} when it listens. Ends when its stdin closes (so it never outlives the process that
// started it with a pipe) or on SIGTERM/SIGINT. Erasable TypeScript only: Node 24 runs this file as it is.
import { parseArgs } from 'node:util';
import { startScriptedModel } from './server.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
const port = Number(values.port);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error(`--port must be a whole number from 0 to 65535, not "${values.port}"`);
  process.exit(2);
}

const model = await startScriptedModel({ port });

let ending = false;
async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  await model.close();
  process.exit(0);
}

process.once('SIGTERM', end);
process.once('SIGINT', end);
process.stdin.once('close', end).once('end', end).resume();
console.log(JSON.stringify({ url: model.url, port: model.port }));
