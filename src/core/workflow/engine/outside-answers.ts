/** What hosts answer to steers, status questions and host commands, as scripts get it. */
import type { Answer } from './calls.ts';
import { isObject } from './child-result.ts';
import type { Fact } from './effects.ts';

/** An answer, and how the trace shows it. */
export interface Outcome {
  answer: Answer;
  state: string;
  error?: string;
}

export function refused(message = 'It failed.'): Answer {
  return { type: 'refused', kind: 'script', message };
}

const RECEIPT_STATES: readonly unknown[] = ['delivered', 'queued', 'missed', 'failed'];

/** Every end of a steer is a receipt; none is an exception. */
export function steerOutcome(key: string, fact: Fact): Outcome {
  const receipt = readReceipt(key, fact);
  const error = text(receipt['error']);
  return {
    answer: { type: 'value', value: receipt },
    state: String(receipt['state']),
    ...(error === undefined ? {} : { error }),
  };
}

function readReceipt(key: string, fact: Fact): Record<string, unknown> {
  if (!fact.ok) return { key, state: 'failed', error: fact.message ?? 'The message could not be sent.' };
  if (isObject(fact.value) && RECEIPT_STATES.includes(fact.value['state'])) return { ...fact.value, key };
  return { key, state: 'failed', error: 'The host gave no receipt.' };
}

export function statusOutcome(runId: string, fact: Fact): Outcome {
  const value = isObject(fact.value) ? fact.value : {};
  if (fact.ok && value['ok'] !== false) {
    return { answer: { type: 'value', value: fact.value ?? null }, state: 'completed' };
  }
  const error = fact.message ?? text(value['error']) ?? text(value['output']) ?? 'there is no status';
  return { answer: refused(`Status '${runId}' failed: ${error}`), state: 'failed', error };
}

const MAX_SAID = 200;

/** @param durationMs taken when the host does not tell */
export function hostOutcome(key: string, fact: Fact, durationMs: number): Outcome {
  const value = isObject(fact.value) ? fact.value : {};
  if (fact.ok && value['ok'] === true) {
    const { stdout = '', stderr = '', outputPath } = value;
    const result = {
      key,
      kind: 'command',
      ok: true,
      state: 'passed',
      exitCode: 0,
      stdout,
      stderr,
      ...(outputPath === undefined ? {} : { outputPath }),
      durationMs: value['durationMs'] ?? durationMs,
    };
    return { answer: { type: 'value', value: result }, state: 'completed' };
  }
  const said = (text(value['stderr']) ?? text(value['stdout']) ?? '').replace(/\s+/g, ' ').slice(0, MAX_SAID);
  const reason = fact.message ?? text(value['error']) ?? hostReason(value);
  const error = `Host command '${key}' failed: ${reason}${said ? `: ${said}` : ''}`;
  return { answer: refused(error), state: value['state'] === 'stopped' ? 'stopped' : 'failed', error };
}

function hostReason(value: Record<string, unknown>): string {
  if (value['state'] === 'timed-out') return 'it timed out';
  if (value['state'] === 'stopped') return 'it was stopped';
  return typeof value['exitCode'] === 'number' ? `exit code ${value['exitCode']}` : 'it could not be run';
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
