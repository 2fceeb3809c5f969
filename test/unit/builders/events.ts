import type { ErrorValue, JournalEvent, JournalEventType, Usage } from '../../../src/protocol/index.ts';

export const someUsage: Usage = { input: 100, output: 10, cacheRead: 5, cacheWrite: 2, cost: 0.5 };
export const someError: ErrorValue = { code: 'child_model_error', message: 'The model failed.', hint: 'Try again.' };
export const someResult = { file: 'children/1/result.json', bytes: 7, sha256: 'ab' };

/** One event of every type. A new type without one does not compile. */
export const oneOfEach: { [T in JournalEventType]: Extract<JournalEvent, { type: T }> } = {
  'run.created': { type: 'run.created', runId: '019a0000-0000-7000-8000-000000000000', digest: 'd' },
  'runner.started': {
    type: 'runner.started',
    epoch: 1,
    process: { pid: 7, start: 's' },
    node: '24',
    version: '0.1.0',
    runtime: 'abc',
  },
  'run.proceeded': { type: 'run.proceeded' },
  'child.spawn.intended': { type: 'child.spawn.intended', child: 1, attempt: 2, agent: 'worker' },
  'child.spawned': { type: 'child.spawned', child: 1, attempt: 2, process: { pid: 8, start: 'c' } },
  'child.spawn.failed': { type: 'child.spawn.failed', child: 1, attempt: 2, error: someError },
  'child.ready': {
    type: 'child.ready',
    child: 1,
    session: { id: 'sess', file: '/s.jsonl' },
    model: 'fake/scripted',
    thinking: 'high',
  },
  'child.prompt.intended': { type: 'child.prompt.intended', child: 1, promptId: 'p', bytes: 4, sha256: 'e' },
  'child.prompted': { type: 'child.prompted', child: 1, promptId: 'p', disposition: 'started' },
  'child.progress': {
    type: 'child.progress',
    child: 1,
    phase: 'tool',
    tool: 'bash',
    turns: 3,
    toolCalls: 4,
    usage: someUsage,
  },
  'child.dialog': { type: 'child.dialog', child: 1, method: 'confirm', title: 'Sure?', answer: 'cancelled' },
  'child.stdout': { type: 'child.stdout', child: 1, text: 'noise' },
  'child.settled': {
    type: 'child.settled',
    child: 1,
    state: 'failed',
    stopReason: 'error',
    error: someError,
    result: someResult,
    turns: 5,
    toolCalls: 6,
    usage: someUsage,
  },
  'child.ended': { type: 'child.ended', child: 1, attempt: 2, exitCode: 0, signal: null, tree: 'gone', note: 'n' },
  'control.requested': {
    type: 'control.requested',
    requestId: 'r',
    action: 'stop',
    by: { kind: 'cli', id: 'me' },
  },
  'control.settled': { type: 'control.settled', requestId: 'r', outcome: 'done' },
  'run.ended': { type: 'run.ended', state: 'failed', error: someError },
};
