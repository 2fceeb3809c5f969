// The commands of the protocol, as far as a client of ours sends them. Each returns the response's `data`.
import { abilitiesOf } from './versions.mjs';

export class CommandError extends Error {}

export const COMMANDS = {
  get_state: (_command, fake) => {
    const { agent, session } = fake;
    const name = session.last('session_info')?.name;
    return {
      model: fake.model,
      thinkingLevel: fake.thinkingLevel,
      isStreaming: agent.isStreaming,
      isCompacting: agent.isCompacting,
      steeringMode: 'one-at-a-time',
      followUpMode: 'one-at-a-time',
      ...(session.path === undefined ? {} : { sessionFile: session.path }),
      sessionId: session.id,
      ...(name === undefined ? {} : { sessionName: name }),
      autoCompactionEnabled: true,
      messageCount: session.messages.length,
      pendingMessageCount: agent.pendingCount,
      ...fake.launch.state,
    };
  },

  get_available_models: (_command, fake) => ({ models: fake.models }),

  steer: async ({ message }, fake) => {
    await fake.agent.enqueue('steering', message);
    return fake.abilities.dispositions ? { disposition: 'queued' } : undefined;
  },

  follow_up: async ({ message }, fake) => {
    await fake.agent.enqueue('followUp', message);
    return fake.abilities.dispositions ? { disposition: 'queued' } : undefined;
  },

  abort: async (_command, fake) => {
    await fake.agent.abort();
    return undefined;
  },

  clear_queue: (_command, fake) => fake.agent.clearQueue(),

  get_messages: (_command, fake) => ({ messages: fake.session.messages }),

  get_last_assistant_text: (_command, fake) => {
    const last = fake.session.messages.findLast((message) => message.role === 'assistant');
    const text = last?.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return { text: text ?? null };
  },

  get_entries: ({ since }, fake) => {
    const { entries, leafId } = fake.session;
    if (since === undefined) return { entries, leafId };
    const at = entries.findIndex((entry) => entry.id === since);
    if (at === -1) throw new CommandError(`Entry not found: ${since}`);
    return { entries: entries.slice(at + 1), leafId };
  },

  get_session_stats: (_command, fake) => statsOf(fake),

  get_commands: () => ({ commands: [] }),

  get_available_thinking_levels: () => ({ levels: ['off', 'minimal', 'low', 'medium', 'high'] }),

  set_session_name: async ({ name }, fake) => {
    if (String(name).trim() === '') throw new CommandError('Session name cannot be empty');
    fake.session.append('session_info', { name });
    await fake.output.record({ type: 'session_info_changed', name });
    return undefined;
  },
};

/** Commands that came later, and with which ability. */
const SINCE = {
  get_entries: 'entries',
  clear_queue: 'clearsQueue',
  get_available_thinking_levels: 'thinkingLevels',
};

export function knowsCommand(type, version) {
  if (COMMANDS[type] === undefined) return false;
  return SINCE[type] === undefined || abilitiesOf(version)[SINCE[type]];
}

function statsOf({ session, model }) {
  const { messages } = session;
  const ofRole = (role) => messages.filter((message) => message.role === role);
  const answers = ofRole('assistant');
  const sum = (pick) => answers.reduce((total, message) => total + pick(message.usage), 0);
  const tokens = {
    input: sum((usage) => usage.input),
    output: sum((usage) => usage.output),
    cacheRead: sum((usage) => usage.cacheRead),
    cacheWrite: sum((usage) => usage.cacheWrite),
    total: sum((usage) => usage.totalTokens),
  };
  const used = answers.at(-1)?.usage.totalTokens ?? 0;
  return {
    sessionFile: session.path,
    sessionId: session.id,
    userMessages: ofRole('user').length,
    assistantMessages: answers.length,
    toolCalls: answers.flatMap((message) => message.content).filter((part) => part.type === 'toolCall').length,
    toolResults: ofRole('toolResult').length,
    totalMessages: messages.length,
    tokens,
    cost: sum((usage) => usage.cost.total),
    contextUsage: {
      tokens: used,
      contextWindow: model.contextWindow,
      percent: model.contextWindow === 0 ? 0 : (used / model.contextWindow) * 100,
    },
  };
}
