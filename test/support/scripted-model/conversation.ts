import { type ChatMessage, type ChatRequest, textOf } from './chat-request.ts';
import { findMarker, type Marker } from './marker.ts';

/** What one request says about where its script stands. Computed from the request alone: the server keeps no session. */
export interface Conversation {
  readonly model: string;
  /** From the newest user message that holds a `SCRIPT:` marker. */
  readonly marker: Marker | undefined;
  /** The newest user message. */
  readonly prompt: string;
  /** Names of the tools that the model may call. */
  readonly tools: readonly string[];
  /** Number of assistant messages after that user message: the index of the step to play. */
  readonly step: number;
  /** User messages after the marker's message, oldest first: steering and follow-ups. */
  readonly later: readonly string[];
  /** Tool results after the newest assistant message, in the order of the calls. */
  readonly toolResults: readonly string[];
  /** The newest tool result after the marker; empty when there is none. */
  readonly lastToolResult: string;
  /** The client asks for a summary of an old conversation (compaction), not for the next turn. */
  readonly summarizing: boolean;
}

/** @throws ScriptError when the newest marker's arguments cannot be read */
export function readConversation(request: ChatRequest): Conversation {
  const { messages } = request;
  const { marker, index } = newestMarker(messages);
  const after = messages.slice(index + 1);
  const lastAnswer = after.findLastIndex((one) => one.role === 'assistant');
  const newest = after.findLast((one) => one.role === 'tool');
  const asked = messages.findLast((one) => one.role === 'user');
  return {
    model: request.model,
    marker,
    prompt: asked ? textOf(asked) : '',
    tools: (request.tools ?? []).map((tool) => tool.function.name),
    step: after.filter((one) => one.role === 'assistant').length,
    later: after.filter((one) => one.role === 'user').map(textOf),
    toolResults: after
      .slice(lastAnswer + 1)
      .filter((one) => one.role === 'tool')
      .map(textOf),
    lastToolResult: newest ? textOf(newest) : '',
    summarizing: isSummaryRequest(request),
  };
}

function newestMarker(messages: readonly ChatMessage[]): { marker: Marker | undefined; index: number } {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message?.role !== 'user') continue;
    const marker = findMarker(textOf(message));
    if (marker) return { marker, index };
  }
  return { marker: undefined, index: -1 };
}

/**
 * Pi's compaction puts the whole conversation, markers included, into one user message. Played as a script it would
 * answer with tool calls; Pi says what it wants in the system message and offers no tools.
 */
function isSummaryRequest({ messages, tools = [] }: ChatRequest): boolean {
  const first = messages[0];
  return tools.length === 0 && first !== undefined && textOf(first).includes('summarization assistant');
}
