/** Items of a transcript, short to write. */
import {
  MAX_INLINE_CHARS,
  type PanelBody,
  type PanelHead,
  type PanelItem,
  type QuestionView,
  type Usage,
} from '../../../src/protocol/index.ts';

type Of<Kind extends PanelItem['kind']> = Extract<PanelItem, { kind: Kind }>;

export function usage(input: number, output: number, cost: number): Usage {
  return { input, output, cacheRead: 0, cacheWrite: 0, cost };
}

/** A body as the extension sends it: its beginning, and a reference when that is not all. */
export function body(text: string, ref: string | null = null): PanelBody {
  return text.length <= MAX_INLINE_CHARS
    ? { text, length: text.length, ref: null }
    : { text: text.slice(0, MAX_INLINE_CHARS), length: text.length, ref: ref ?? 'body' };
}

const NOON = Date.UTC(2026, 2, 14, 12);

function base(key: string) {
  return { key, cursor: `c:${key}`, t: NOON };
}

export function user(key: string, text: string, origin: Of<'user'>['origin'] = 'task'): PanelItem {
  return { ...base(key), kind: 'user', origin, body: body(text) };
}

export function text(key: string, said: string, more: Partial<Of<'text'>> = {}): PanelItem {
  return { ...base(key), kind: 'text', body: body(said, key), streaming: false, model: 'anthropic/claude', ...more };
}

export function thinking(key: string, thought: string, streaming = false): PanelItem {
  return { ...base(key), kind: 'thinking', body: body(thought, key), streaming };
}

export function tool(key: string, more: Partial<Of<'tool'>> = {}): PanelItem {
  return {
    ...base(key),
    kind: 'tool',
    name: 'bash',
    arguments: body('{\n  "command": "npm test"\n}'),
    title: 'npm test',
    state: 'done',
    output: body('ok\n'),
    startedAt: NOON,
    durationMs: 1530,
    file: null,
    diff: null,
    ...more,
  };
}

export function turn(key: string, more: Partial<Of<'turn'>> = {}): PanelItem {
  return {
    ...base(key),
    kind: 'turn',
    model: 'anthropic/claude',
    stopReason: 'stop',
    error: null,
    usage: usage(12_000, 800, 0.042),
    ...more,
  };
}

export function note(key: string, said: string): PanelItem {
  return { ...base(key), kind: 'note', text: said };
}

export function gap(key: string, reason: Of<'gap'>['reason'], records: number | null = null): PanelItem {
  return { ...base(key), kind: 'gap', reason, records };
}

export function image(key: string, mimeType: string): PanelItem {
  return { ...base(key), kind: 'image', mimeType };
}

export function retry(key: string, error: string): PanelItem {
  return { ...base(key), kind: 'retry', attempt: 2, maxAttempts: 5, delayMs: 4000, error };
}

export function compaction(key: string, summary: string | null, running = false): PanelItem {
  return {
    ...base(key),
    kind: 'compaction',
    running,
    reason: 'threshold',
    summary: summary === null ? null : body(summary),
  };
}

export function question(id: string, more: Partial<QuestionView> = {}): QuestionView {
  return { id, child: 0, method: 'select', title: 'Which port?', message: '', options: [], expiresAt: NOON, ...more };
}

export const NOTHING_CAN: PanelHead['can'] = {
  steer: false,
  interrupt: false,
  stop: false,
  forceStop: false,
  resume: false,
};

/** A run that is at work. */
export function head(more: Partial<PanelHead> = {}): PanelHead {
  return {
    runId: '0195f3a0-0000-7000-8000-000000000000',
    title: 'Make the parser skip comments',
    agent: 'worker',
    state: 'running',
    stateWord: 'Running',
    activity: 'thinking',
    model: 'anthropic/claude-sonnet-4-5',
    usage: usage(41_000, 3_200, 0.184),
    context: { tokens: 46_000, window: 200_000 },
    startedAt: NOON,
    endedAt: NOON + 83_000,
    error: null,
    questions: [],
    steering: [],
    can: { ...NOTHING_CAN, steer: true, interrupt: true, stop: true },
    source: { kind: 'mirror', other: true },
    ...more,
  };
}
