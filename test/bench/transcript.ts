/**
 * How fast the end of a huge session is there, and what a long stream leaves in memory. Prints one JSON line: milliseconds
 * from asking the worker to its first items, its start included; megabytes of the worker's heap before and after.
 */
import { appendFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { type FromTranscriptWorker, fromTranscriptWorker, type ToTranscriptWorker } from '../../src/protocol/index.ts';
import { tempDir } from '../support/temp.ts';
import { testBundles } from '../support/world.ts';

const GIGABYTE = 1024 ** 3;
const STREAMED_BYTES = 200 * 1024 * 1024;
const MEGABYTE = 1024 * 1024;

// So that the worker can collect before it is measured.
setFlagsFromString('--expose-gc');
await using folder = await tempDir();
const script = join(await testBundles(true), 'transcript-worker.mjs');

let entry = 0;
/** A question, an answer with a call, its result: 6 KB as in real sessions. */
function turn(): string {
  const stamp = new Date(1_800_000_000_000 + entry * 1000).toISOString();
  const one = (message: unknown) => {
    const line = {
      type: 'message',
      id: `e${entry + 1}`,
      parentId: entry === 0 ? null : `e${entry}`,
      timestamp: stamp,
      message,
    };
    entry++;
    return `${JSON.stringify(line)}\n`;
  };
  const id = `call${entry}`;
  const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, cost: { total: 0.01 } };
  const call = { type: 'toolCall', id, name: 'bash', arguments: { command: `ls ${entry}` } };
  return (
    one({ role: 'user', content: [{ type: 'text', text: `Question ${entry}: ${'why? '.repeat(60)}` }] }) +
    one({
      role: 'assistant',
      content: [{ type: 'text', text: 'Because. '.repeat(120) }, call],
      provider: 'p',
      model: 'm',
      usage,
      stopReason: 'toolUse',
    }) +
    one({
      role: 'toolResult',
      toolCallId: id,
      toolName: 'bash',
      content: [{ type: 'text', text: 'a line of output\n'.repeat(250) }],
      isError: false,
    })
  );
}

async function writeSession(path: string, bytes: number): Promise<void> {
  const handle = await open(path, 'w');
  await handle.write(
    `${JSON.stringify({ type: 'session', version: 3, id: 's', timestamp: new Date(0).toISOString(), cwd: '/' })}\n`,
  );
  let written = 0;
  while (written < bytes) {
    let block = '';
    while (block.length < 4 * MEGABYTE) block += turn();
    written += (await handle.write(block)).bytesWritten;
  }
  await handle.close();
}

class Opened {
  readonly #worker = new Worker(script, { workerData: { words: { model: '{0}', name: '{0}' } } });
  #waiting: { fits: (message: FromTranscriptWorker) => boolean; resolve: (message: FromTranscriptWorker) => void }[] =
    [];
  messages = 0;

  constructor() {
    this.#worker.on('message', (data: unknown) => {
      const message = fromTranscriptWorker.parse(data);
      this.messages++;
      if (message.type === 'snapshot' || message.type === 'delta') this.send({ type: 'taken', source: 1 });
      const found = this.#waiting.find(({ fits }) => fits(message));
      this.#waiting = this.#waiting.filter((one) => one !== found);
      found?.resolve(message);
    });
  }

  send(message: ToTranscriptWorker): void {
    this.#worker.postMessage(message);
  }

  next<T extends FromTranscriptWorker['type']>(type: T): Promise<Extract<FromTranscriptWorker, { type: T }>> {
    return new Promise((resolve) => {
      const fits = (message: FromTranscriptWorker): message is Extract<FromTranscriptWorker, { type: T }> =>
        message.type === type;
      this.#waiting.push({ fits, resolve: (message) => fits(message) && resolve(message) });
    });
  }

  async heapMb(): Promise<number> {
    const told = this.next('memory');
    this.send({ type: 'measure' });
    const { heapUsed, external } = await told;
    return (heapUsed + external) / MEGABYTE;
  }

  close(): Promise<number> {
    return this.#worker.terminate();
  }
}

const openMessage = (path: string): ToTranscriptWorker => ({
  type: 'open',
  quiet: false,
  source: 1,
  files: [{ kind: 'session', path }],
  wanted: null,
  context: { live: true, steering: [] },
});

const path = join(folder.path, 'session.jsonl');
await writeSession(path, GIGABYTE);
const cold: number[] = [];
const warm: number[] = [];
let find = 0;
for (let i = 0; i < 5; i++) {
  const opened = new Opened();
  // The second time the thread is there already, as it is for every panel but the first.
  for (const times of [cold, warm]) {
    const from = performance.now();
    const told = opened.next('snapshot');
    opened.send(openMessage(path));
    const { window } = await told;
    times.push(performance.now() - from);
    if (window.items.length < 20) throw new Error('the window is not full');
  }
  if (i === 4) {
    const from = performance.now();
    let last = opened.next('found');
    opened.send({ type: 'find', source: 1, request: 1, query: 'nowhere to be found', matchCase: false });
    while (!(await last).done) last = opened.next('found');
    find = performance.now() - from;
  }
  await opened.close();
}
const median = (times: number[]) => Math.round(times.sort((a, b) => a - b)[2] ?? 0);

const grown = join(folder.path, 'grown.jsonl');
await writeSession(grown, 4 * MEGABYTE);
const opened = new Opened();
const first = opened.next('snapshot');
opened.send(openMessage(grown));
await first;
await delay(100);
const before = await opened.heapMb();
const hostHeapMb = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / MEGABYTE;
};
const hostBefore = hostHeapMb();
let peak = 0;
for (let written = 0; written < STREAMED_BYTES; ) {
  let block = '';
  while (block.length < 512 * 1024) block += turn();
  await appendFile(grown, block);
  written += block.length;
  if (Math.floor(written / (20 * MEGABYTE)) !== Math.floor((written - block.length) / (20 * MEGABYTE)))
    peak = Math.max(peak, await opened.heapMb());
}
await delay(1500);
const after = await opened.heapMb();
const hostAfter = hostHeapMb();
await opened.close();
console.log(
  JSON.stringify({
    cold: median(cold),
    warm: median(warm),
    find: Math.round(find),
    before: Number(before.toFixed(1)),
    peak: Number(peak.toFixed(1)),
    after: Number(after.toFixed(1)),
    host: Number((hostAfter - hostBefore).toFixed(1)),
    messages: opened.messages,
  }),
);
