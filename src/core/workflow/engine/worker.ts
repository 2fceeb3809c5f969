/** The worker in which one script runs. It has the stack that the engine needs, and its owner can end it. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { Call, StepOutput, WorkflowError } from './calls.ts';
import { languageFault, notStarted } from './language.ts';
import {
  Control,
  decode,
  encode,
  type FromWorker,
  type OpenRequest,
  type ToWorker,
  type WorkerBirth,
} from './messages.ts';
import prelude from './prelude/main.ts?vm';
import { quickJsEngine } from './quickjs.ts';
import { EngineFailure, type OpenRealm, ScriptSyntaxError } from './script-engine.ts';
import { Session } from './session.ts';

/** Characters of calls in one message: what the owner can take without being held up. */
const PART_CHARS = 256 * 1024;

const { control: memory }: WorkerBirth = workerData;
const control = new Control(memory);
let session: Session | undefined;
let unsent: FromWorker[] = [];

function send(message: FromWorker): void {
  parentPort?.postMessage(encode(message));
}

function sendNext(): void {
  const next = unsent.shift();
  if (next) send(next);
}

/** The next message of the owner, as soon as there is one. */
function receive<T>(): T {
  return control.receive<T>(() => (parentPort ? receiveMessageOnPort(parentPort)?.message : undefined));
}

/** First the compiled engine, then requests, until the owner ends the worker. */
async function serve(): Promise<never> {
  const openRealm = quickJsEngine(receive<WebAssembly.Module>());
  for (;;) {
    const message = decode(receive<ToWorker | string>());
    if (message.type === 'open') await open(message, openRealm);
    else if (message.type === 'more') sendNext();
    else {
      if (!session) throw new Error('A step was asked for before the script was opened.');
      unsent = inParts(session.step(message.input));
      sendNext();
    }
  }
}

async function open(request: OpenRequest, openRealm: OpenRealm): Promise<void> {
  session?.dispose();
  session = undefined;
  const fault = languageFault(request.script);
  if (fault) return send({ type: 'refused', error: fault });
  try {
    session = await Session.open({
      ...request,
      prelude,
      openRealm,
      mustEnd: () => control.mustEnd(),
    });
    send({ type: 'ready' });
  } catch (error) {
    send({ type: 'refused', error: openingError(error) });
  }
}

function openingError(error: unknown): WorkflowError {
  if (error instanceof ScriptSyntaxError) {
    return {
      kind: 'syntax',
      message: notStarted(`The script must be valid JavaScript: ${error.message}.`),
      ...(error.line === undefined ? {} : { line: error.line }),
      ...(error.column === undefined ? {} : { column: error.column }),
    };
  }
  if (error instanceof EngineFailure && error.reason === 'memory') {
    return { kind: 'limit', message: notStarted('Script and arguments do not fit into the memory of a workflow.') };
  }
  return {
    kind: 'engine',
    message: `The script engine could not start: ${error instanceof Error ? error.message : String(error)}`,
  };
}

/** The calls of a step in messages of bounded size; the last has everything else. */
function inParts(output: StepOutput): FromWorker[] {
  const messages: FromWorker[] = [];
  let part: Call[] = [];
  let size = 0;
  for (const call of output.calls) {
    const chars = sizeOf(call);
    if (size + chars > PART_CHARS && part.length > 0) {
      messages.push({ type: 'part', calls: part });
      part = [];
      size = 0;
    }
    part.push(call);
    size += chars;
  }
  messages.push({ type: 'stepped', output: { ...output, calls: part } });
  return messages;
}

/** About how much work a call is for the owner. */
function sizeOf(call: Call): number {
  const overhead = 100;
  if (call.type === 'emit' || call.type === 'state.set') return call.value.length + overhead;
  if (call.type === 'console') return call.text.length + overhead;
  return call.type === 'batch' ? call.items.length * 2000 : 2000;
}

// Without a listener the port would not keep the worker alive while the engine is made.
parentPort?.ref();
void serve();
