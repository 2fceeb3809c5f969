/** Fault points for tests: `PI_LANES_FAULT=<event type>:<before|after>[:n]` kills this process around the n-th such event. */
import type { JournalEventType } from '../protocol/index.ts';

export function faultFrom(
  text: string | undefined,
): ((type: JournalEventType, when: 'before' | 'after') => void) | undefined {
  const match = /^([a-z.]+):(before|after)(?::(\d+))?$/.exec(text ?? '');
  if (!match) return undefined;
  const [, wantedType, wantedWhen] = match;
  let left = Number(match[3] ?? 1);
  return (type, when) => {
    if (type === wantedType && when === wantedWhen && --left === 0) process.kill(process.pid, 'SIGKILL');
  };
}
