import { newRunId } from '../../src/core/runs/index.ts';
import { describeError, type JournalEvent, type TerminalState } from '../../src/protocol/index.ts';
import { aRecord, type RunOptions } from '../unit/builders/run.ts';

const MINUTE = 60_000;

/** A run that has ended, as its runner left it, with everything that a row can show. */
export function endedRun(options: {
  task: string;
  state: TerminalState;
  minutesAgo: number;
  agent?: string;
}): RunOptions {
  const { task, state, minutesAgo } = options;
  const at = Date.now() - minutesAgo * MINUTE;
  const plain = aRecord().child;
  const child = { ...plain, task, agent: { ...plain.agent, name: options.agent ?? 'worker' }, model: 'fake/scripted' };
  const error =
    state === 'failed' ? describeError('child_model_error', { reason: '529: the provider is overloaded' }) : null;
  const usage = { input: 18_400, output: 1_210, cacheRead: 52_000, cacheWrite: 0, cost: 0.083 };
  const events: JournalEvent[] = [
    { type: 'run.proceeded' },
    { type: 'child.ready', child: 1, session: { id: 's', file: null }, model: 'fake/scripted', thinking: 'high' },
    {
      type: 'child.settled',
      child: 1,
      state,
      stopReason: state === 'failed' ? 'error' : 'stop',
      error,
      result: null,
      turns: 6,
      toolCalls: 9,
      usage,
    },
    { type: 'run.ended', state, error },
  ];
  return { record: { runId: newRunId(at), createdAt: at - 3 * MINUTE, child }, events, at };
}
