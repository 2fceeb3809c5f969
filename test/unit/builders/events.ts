import type {
  ErrorValue,
  JournalEvent,
  JournalEventType,
  Owner,
  Usage,
  WorktreePlan,
} from '../../../src/protocol/index.ts';

export const someUsage: Usage = { input: 100, output: 10, cacheRead: 5, cacheWrite: 2, cost: 0.5 };
export const someError: ErrorValue = { code: 'child_model_error', message: 'The model failed.', hint: 'Try again.' };
export const someone: Owner = { kind: 'cli', id: 'me' };
export const someBase = '0123456789012345678901234567890123456789';
/** What git is asked for. */
export const somePlan: WorktreePlan = {
  version: 1,
  runId: '019a0000-0000-7000-8000-000000000000',
  child: 1,
  repository: '/work/.git',
  root: '/work',
  path: '/work.worktrees/fix-00000000-1',
  folder: '/work.worktrees/fix-00000000-1/src',
  branch: 'pi-lanes/fix-00000000-1',
  base: someBase,
};
export const someWorktreeRecord = { file: 'children/1/worktree/record.json', bytes: 7, sha256: 'ef' };
export const someCapture = { file: 'children/1/worktree/capture-1/capture.json', bytes: 7, sha256: '01' };
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
  'child.planned': {
    type: 'child.planned',
    child: 2,
    id: 1,
    key: 'survey',
    agent: 'scout',
    label: 'Survey the site',
    phase: 'first',
    lane: null,
    model: null,
    cwd: '/somewhere',
    plan: { file: 'children/2/plan.json', bytes: 7, sha256: 'cd' },
  },
  'workflow.delivered': {
    type: 'workflow.delivered',
    step: 1,
    at: 4_000,
    facts: [{ id: 1, key: 'survey', asked: 'f', ok: true, json: '{"ok":true}' }],
  },
  'workflow.said': {
    type: 'workflow.said',
    step: 1,
    emits: [{ json: '1' }, { json: '2' }],
    console: [{ level: 'log', text: 'hello' }],
  },
  'workflow.planned': {
    type: 'workflow.planned',
    step: 1,
    lanes: [{ key: 'north', stages: [{ key: 'north.build', label: null, agent: 'worker' }] }],
  },
  'workflow.stepped': {
    type: 'workflow.stepped',
    step: 3,
    asks: [{ id: 1, type: 'launch', key: 'survey', asked: '0123456789abcdef' }],
    limits: { globalConcurrencyLimit: 20, maxSubagentSpawnsPerRun: 64 },
  },
  'host.intended': { type: 'host.intended', id: 4, key: 'ci', command: 'npm test', role: 'ci', timeoutMs: 1_000 },
  'host.started': { type: 'host.started', id: 4, process: { pid: 9, start: 'h' } },
  'host.ended': {
    type: 'host.ended',
    id: 4,
    state: 'passed',
    exitCode: 0,
    outputPath: '/out/ci.log',
    durationMs: 5,
    error: null,
  },
  'workflow.ended': {
    type: 'workflow.ended',
    ok: false,
    state: 'failed',
    failure: { kind: 'script', message: 'It threw.', line: 3, column: 1 },
    value: null,
    partial: null,
    aborted: [],
  },
  'run.continued': {
    type: 'run.continued',
    by: someone,
    limits: { globalConcurrencyLimit: 20, maxSubagentSpawnsPerRun: 64 },
    timeoutMs: null,
  },
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
  'child.attempt.failed': {
    type: 'child.attempt.failed',
    child: 1,
    attempt: 2,
    error: someError,
    next: 'fallback',
    model: 'fake/scripted',
    delayMs: 0,
  },
  'child.session.checked': { type: 'child.session.checked', child: 1, state: 'damaged', note: 'no header' },
  'control.requested': {
    type: 'control.requested',
    requestId: 'r',
    action: 'stop',
    by: someone,
    message: null,
    preview: null,
  },
  'control.settled': { type: 'control.settled', requestId: 'r', outcome: 'done', reason: null },
  'timeout.reached': {
    type: 'timeout.reached',
    child: 1,
    scope: 'tool',
    tool: 'read',
    phase: 'tool',
    limitMs: 300_000,
  },
  'question.asked': {
    type: 'question.asked',
    questionId: 'q',
    child: 1,
    method: 'select',
    title: 'Which?',
    message: 'Pick a gate.',
    options: ['north', 'south'],
    expiresAt: 600_000,
  },
  'question.answered': { type: 'question.answered', questionId: 'q', by: someone, answer: 'north' },
  'question.expired': { type: 'question.expired', questionId: 'q', reason: 'nobody answered in time' },
  'attention.raised': { type: 'attention.raised', child: 1, kind: 'needs_attention', text: 'It is silent.' },
  'attention.cleared': { type: 'attention.cleared', child: 1, kind: 'needs_attention' },
  'checkout.awaited': { type: 'checkout.awaited', child: 1, folder: '/work', owner: 'another run' },
  'checkout.taken': { type: 'checkout.taken', child: 1, folder: '/work' },
  'worktree.planned': { type: 'worktree.planned', child: 1, plan: somePlan },
  'worktree.made': { type: 'worktree.made', child: 1, record: someWorktreeRecord, warnings: [] },
  'worktree.provisioned': { type: 'worktree.provisioned', child: 1, record: someWorktreeRecord, warnings: [someError] },
  'worktree.undone': {
    type: 'worktree.undone',
    child: 1,
    path: somePlan.path,
    branch: somePlan.branch,
    left: [someError],
  },
  'worktree.joined': {
    type: 'worktree.joined',
    child: 1,
    of: { runId: '019a0000-0000-7000-8000-000000000001', child: 3 },
    path: somePlan.path,
    folder: somePlan.folder,
    branch: somePlan.branch,
    base: someBase,
    record: someWorktreeRecord,
  },
  'worktree.captured': {
    type: 'worktree.captured',
    child: 1,
    capture: someCapture,
    changed: true,
    commits: 2,
    files: 3,
    insertions: 4,
    deletions: 5,
    outside: 6,
    blockers: [someError],
    blocked: 1,
  },
  'worktree.capture.failed': { type: 'worktree.capture.failed', child: 1, error: someError },
  'output.claimed': { type: 'output.claimed', child: 1, path: '/work/answer.md' },
  'output.settled': {
    type: 'output.settled',
    child: 1,
    path: '/work/answer.md',
    outcome: 'failed',
    bytes: 0,
    error: 'no rights',
  },
  'recovery.begun': { type: 'recovery.begun', epoch: 2, settle: 'continue', ended: 1 },
  'recovery.decided': { type: 'recovery.decided', child: 1, decision: 'continue', reason: 'unfinished work' },
  'journal.truncated': { type: 'journal.truncated', limit: 4096 },
  'run.ended': { type: 'run.ended', state: 'failed', error: someError },
};

/** A message to the child, as it was asked for. */
export function steer(
  requestId: string,
  over: Partial<Extract<JournalEvent, { type: 'control.requested' }>> = {},
): JournalEvent {
  const message = { file: `control/${requestId}.txt`, bytes: 5, sha256: 'cd' };
  return {
    ...oneOfEach['control.requested'],
    action: 'steer',
    requestId,
    message,
    preview: `say ${requestId}`,
    ...over,
  };
}

/** What became of it. */
export function receipt(
  requestId: string,
  outcome: Extract<JournalEvent, { type: 'control.settled' }>['outcome'],
  reason: string | null = null,
): JournalEvent {
  return { type: 'control.settled', requestId, outcome, reason };
}

/** A question of the child. */
export function question(questionId: string): JournalEvent {
  return { ...oneOfEach['question.asked'], questionId };
}
