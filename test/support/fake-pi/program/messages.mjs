// The shapes of Pi's messages and models.

const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
/** Tokens of every answer that does not name its own, and dollars. */
const USUAL_USAGE = { ...NO_USAGE, input: 100, output: 10, cost: 0.00012 };

/** @param usage `input`, `output`, `cacheRead`, `cacheWrite` in tokens, `cost` in dollars; what is absent is usual */
export function usageOf(usage) {
  const { cost, ...tokens } = { ...USUAL_USAGE, ...usage };
  const totalTokens = tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite;
  return { ...tokens, totalTokens, cost: { input: cost, output: 0, cacheRead: 0, cacheWrite: 0, total: cost } };
}

export const NOTHING_USED = usageOf({ ...NO_USAGE, cost: 0 });

export function modelOf(name) {
  const at = name.indexOf('/');
  const provider = name.slice(0, at);
  const id = name.slice(at + 1);
  return {
    id,
    name: id.replace(/^./, (letter) => letter.toUpperCase()),
    api: 'openai-completions',
    provider,
    baseUrl: 'http://127.0.0.1:9/v1',
    reasoning: true,
    input: ['text'],
    cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 128_000,
    maxTokens: 4_096,
  };
}

export const NO_MODEL = { ...modelOf('unknown/unknown'), contextWindow: 0, maxTokens: 0 };

export function userMessage(text) {
  return { role: 'user', content: [{ type: 'text', text }], timestamp: Date.now() };
}

export function systemMessage(cwd, text) {
  return { role: 'system', content: '', sections: { preamble: text, cwd }, timestamp: Date.now(), toolsAdded: [] };
}

export function assistantMessage(model, content, { usage, stopReason, ...rest }) {
  const { api, provider, id } = model;
  return {
    role: 'assistant',
    content,
    api,
    provider,
    model: id,
    usage,
    stopReason,
    timestamp: Date.now(),
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
  };
}

export function toolResultMessage(call, result, abilities) {
  const { content, isError, durationMs } = result;
  return {
    role: 'toolResult',
    toolCallId: call.id,
    toolName: call.name,
    content,
    isError,
    ...(abilities.modern ? { durationMs } : {}),
    timestamp: Date.now(),
  };
}
