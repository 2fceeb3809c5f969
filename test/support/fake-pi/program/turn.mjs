// One turn: a message of the model and, if it asks for tools, their execution.
import { filler } from './floods.mjs';
import { MessageStream } from './message-stream.mjs';
import { assistantMessage, NOTHING_USED, toolResultMessage, usageOf } from './messages.mjs';
import { isStepPart } from './plan.mjs';
import { runStep, runSteps } from './steps.mjs';
import { Aborted, pause, throwIfAborted } from './waiting.mjs';

/** Bytes of one delta of a text that is filled up. */
const FILL_DELTA_BYTES = 64 * 1024;

/**
 * Plays `turn` and emits it up to `turn_end`. An abort closes what is open, as Pi does, and is thrown on.
 * @returns the assistant message
 */
export async function playTurn(turn, run) {
  const { fake } = run;
  if (failedAtOnce(turn)) return playFailure(turn, run);
  const { tools = [], error } = turn;
  const calls = tools.map((tool, index) => ({
    id: `call_${fake.session.entries.length}_${index}`,
    name: tool.name ?? 'bash',
    arguments: tool.args ?? {},
  }));
  const stream = new MessageStream({
    emit: (record) => run.emit(record),
    keep: (message) => run.keep(message),
    model: fake.model,
    abilities: fake.abilities,
    thinkingLevel: fake.thinkingLevel,
    usage: usageOf(turn.usage),
  });
  await stream.start();
  try {
    await streamParts(turn.thinking, 'think', turn, stream, run);
    await streamParts(turn.say, 'text', turn, stream, run);
    for (const call of calls) await stream.toolCall(call);
  } catch (reason) {
    if (!(reason instanceof Aborted)) throw reason;
    const message = await stream.end({ stopReason: 'aborted', errorMessage: 'Request was aborted' });
    await run.emit({ type: 'turn_end', message, toolResults: [] });
    run.abortIsRecorded = true;
    throw reason;
  }
  const stopReason = turn.stop ?? (error === undefined ? (calls.length > 0 ? 'toolUse' : 'stop') : 'error');
  const message = await stream.end({ stopReason, errorMessage: error });
  if (stopReason !== 'error') await run.endRetries({ success: true });
  const results = await Promise.all(calls.map((call, index) => executeTool(call, tools[index], run)));
  for (const result of results) await run.say(result);
  await run.emit({ type: 'turn_end', message, toolResults: results });
  return message;
}

/** The provider refused the request: nothing was streamed, and the message is what it is from its start. */
function failedAtOnce({ error, say, thinking, tools }) {
  return error !== undefined && say === undefined && thinking === undefined && tools === undefined;
}

async function playFailure({ error }, run) {
  const { fake } = run;
  const message = assistantMessage(fake.model, [], {
    usage: NOTHING_USED,
    stopReason: 'error',
    errorMessage: error,
    ...(fake.abilities.modern ? { durationMs: 0, thinkingLevel: fake.thinkingLevel } : {}),
  });
  await run.say(message);
  await run.emit({ type: 'turn_end', message, toolResults: [] });
  return message;
}

async function streamParts(parts, kind, turn, stream, run) {
  const { fake, signal } = run;
  if (parts === undefined) return;
  const list = typeof parts === 'string' ? (fake.expand(parts).match(/\S+\s*|\s+/g) ?? []) : parts;
  for (const part of list) {
    throwIfAborted(signal);
    if (isStepPart(part)) {
      await runStep(part, run.context);
    } else if (typeof part === 'object' && 'think' in part) {
      await streamParts(part.think, 'think', turn, stream, run);
    } else {
      for (const delta of deltasOf(part, fake)) {
        await stream[kind](delta);
        if (turn.tokenMs) await pause(turn.tokenMs, signal);
      }
    }
  }
}

function* deltasOf(part, fake) {
  if (typeof part === 'string') {
    yield fake.expand(part);
    return;
  }
  const size = part.deltaBytes ?? FILL_DELTA_BYTES;
  const text = filler(part.fill);
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

/** Runs one tool beside the others; an abort ends it as Pi's bash ends. */
async function executeTool(call, tool, run) {
  const { fake, signal } = run;
  const identity = { toolCallId: call.id, toolName: call.name };
  const startedAt = performance.now();
  await run.emit({ type: 'tool_execution_start', ...identity, args: call.arguments });
  let output = '';
  let isError = tool.isError ?? false;
  try {
    for (const text of tool.updates ?? []) {
      const partialResult = { content: [{ type: 'text', text: fake.expand(text) }] };
      await run.emit({ type: 'tool_execution_update', ...identity, args: call.arguments, partialResult });
    }
    await runSteps(tool.during, run.context);
    await pause(tool.ms ?? 0, signal);
    output = fake.expand(tool.output ?? '(no output)');
  } catch (reason) {
    if (!(reason instanceof Aborted)) throw reason;
    output = 'Command aborted';
    isError = true;
  }
  const content = [{ type: 'text', text: output }];
  const durationMs = Math.round(performance.now() - startedAt);
  await run.emit({
    type: 'tool_execution_end',
    ...identity,
    result: { content },
    isError,
    ...(fake.abilities.modern ? { durationMs } : {}),
  });
  return toolResultMessage(call, { content, isError, durationMs }, fake.abilities);
}
