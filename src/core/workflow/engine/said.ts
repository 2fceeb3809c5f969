import type { Call } from './calls.ts';
import type { SteppedStep } from './journal.ts';

/** What calls published and announced. */
export function saidIn(parts: readonly (readonly Call[])[]): Pick<SteppedStep, 'emits' | 'console' | 'lanes'> {
  const said: Pick<SteppedStep, 'emits' | 'console' | 'lanes'> = { emits: [], console: [], lanes: [] };
  for (const call of parts.flat()) {
    if (call.type === 'emit') said.emits.push(call.value);
    else if (call.type === 'console') said.console.push({ level: call.level, text: call.text });
    else if (call.type === 'lanes') said.lanes.push(...call.lanes);
  }
  return said;
}
