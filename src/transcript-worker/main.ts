/** The thread that reads transcripts, so that no file of any size ever holds up the editor. */
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { type FromTranscriptWorker, toTranscriptWorker, transcriptWorkerData } from '../protocol/index.ts';
import { OpenTranscript } from './open-transcript.ts';

const port = parentPort;
if (!port) throw new Error('the transcript worker is started as a thread');
const { words } = transcriptWorkerData.parse(workerData);
const open = new Map<number, OpenTranscript>();

const send = (message: FromTranscriptWorker) => port.postMessage(message);

port.on('message', (data: unknown) => {
  const message = toTranscriptWorker.parse(data);
  if (message.type === 'measure') {
    globalThis.gc?.();
    const { used_heap_size: heapUsed, external_memory: external } = getHeapStatistics();
    send({ type: 'memory', heapUsed, external });
    return;
  }
  if (message.type === 'end') {
    // What is being read is finished and its file closed; then there is nothing left to do.
    for (const transcript of open.values()) transcript.close();
    port.close();
    return;
  }
  if (message.type === 'open') {
    open.get(message.source)?.close();
    open.set(message.source, new OpenTranscript(message, words, send));
    return;
  }
  const transcript = open.get(message.source);
  if (!transcript) return;
  switch (message.type) {
    case 'context':
      transcript.learn(message.context);
      break;
    case 'taken':
      transcript.taken();
      break;
    case 'follow':
      transcript.follow(message.following);
      break;
    case 'page':
      transcript.page(message);
      break;
    case 'body':
      transcript.body(message);
      break;
    case 'more':
      transcript.more(message.request);
      break;
    case 'find':
      transcript.find(message);
      break;
    case 'export':
      transcript.export(message);
      break;
    case 'cancel':
      transcript.cancel(message.request);
      break;
    case 'close':
      transcript.close();
      open.delete(message.source);
      break;
    default:
      message satisfies never;
  }
});
