/**
 * What a Pi session is doing, as a pure fold over its records. Knows when work is over: `agent_settled` since Pi 0.80.4;
 * before that `agent_end`, which is only tentative, because a retry or a compaction may follow.
 */
import { addUsage, type ChildPhase, NO_USAGE, type Usage } from '../../../protocol/index.ts';
import type { ChildProgress } from '../child-driver.ts';
import { type AnswerCalls, applyToAnswer, NO_ANSWER } from './answer-calls.ts';
import { type PiMessage, type PiRecord, textOf } from './records.ts';

export interface LastAssistant {
  text: string;
  stopReason: string;
  errorMessage: string | undefined;
}

export interface Conversation {
  phase: ChildPhase;
  /** Tools that are running, by call id. */
  tools: ReadonlyMap<string, string>;
  turns: number;
  toolCalls: number;
  usage: Usage;
  lastAssistant: LastAssistant | undefined;
  /** Newest text with something in it: an aborted message is empty and says nothing about the work before it. */
  lastWords: string;
  /** `tentative`: over unless Pi says it goes on (0.73 only). */
  settled: 'no' | 'tentative' | 'yes';
  aborted: boolean;
  /** An agent run has begun since the last prompt. */
  begun: boolean;
  answer: AnswerCalls;
}

/** The same session with a new prompt: totals go on, the verdict begins anew. */
export function nextPrompt(state: Conversation): Conversation {
  return { ...state, lastAssistant: undefined, settled: 'no', aborted: false, tools: new Map() };
}

export const NEW_CONVERSATION: Conversation = {
  phase: 'idle',
  tools: new Map(),
  turns: 0,
  toolCalls: 0,
  usage: NO_USAGE,
  lastAssistant: undefined,
  lastWords: '',
  settled: 'no',
  aborted: false,
  begun: false,
  answer: NO_ANSWER,
};

export function applyRecord(state: Conversation, record: PiRecord, options: { reportsSettled: boolean }): Conversation {
  switch (record.type) {
    case 'agent_start':
    case 'turn_start':
      return { ...state, phase: 'thinking', settled: 'no', begun: true };
    case 'agent_end':
      if (record.willRetry) return state;
      if (!options.reportsSettled) return { ...state, phase: 'ending', settled: 'tentative' };
      return state.begun ? { ...state, phase: 'ending' } : state;
    case 'agent_settled':
      return { ...state, phase: 'idle', tools: new Map(), settled: 'yes', aborted: record.aborted ?? state.aborted };
    case 'message_end':
      return applyMessage(state, record.message);
    case 'tool_execution_start': {
      const tools = new Map(state.tools).set(record.toolCallId, record.toolName);
      return {
        ...state,
        phase: 'tool',
        tools,
        toolCalls: state.toolCalls + 1,
        answer: applyToAnswer(state.answer, record),
      };
    }
    case 'tool_execution_end': {
      const tools = new Map(state.tools);
      tools.delete(record.toolCallId);
      return {
        ...state,
        tools,
        phase: tools.size > 0 ? 'tool' : 'thinking',
        answer: applyToAnswer(state.answer, record),
      };
    }
    case 'auto_retry_start':
      return { ...state, phase: 'retrying', settled: 'no' };
    case 'auto_retry_end':
      return { ...state, phase: 'thinking' };
    case 'compaction_start':
      return { ...state, phase: 'compacting', settled: 'no' };
    case 'compaction_end':
      // Pi 0.73 says nothing more after a compaction that came at the end of a run.
      return { ...state, phase: 'thinking', settled: options.reportsSettled ? 'no' : 'tentative' };
    default:
      return state;
  }
}

function applyMessage(state: Conversation, message: PiMessage): Conversation {
  if (message.role !== 'assistant') return state;
  const { usage } = message;
  const text = textOf(message.content);
  return {
    ...state,
    turns: state.turns + 1,
    usage: usage ? addUsage(state.usage, { ...usage, cost: usage.cost?.total ?? 0 }) : state.usage,
    lastWords: text.trim() === '' ? state.lastWords : text,
    lastAssistant: {
      text,
      stopReason: message.stopReason ?? 'stop',
      errorMessage: message.errorMessage,
    },
  };
}

export function progressOf(state: Conversation): ChildProgress {
  return {
    phase: state.phase,
    tool: [...state.tools.values()].at(-1) ?? null,
    turns: state.turns,
    toolCalls: state.toolCalls,
    usage: state.usage,
  };
}
