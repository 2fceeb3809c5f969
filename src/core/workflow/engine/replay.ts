/** An execution again, from its record: no host, no time, no chance. */
import type { Call, Delivery } from './calls.ts';
import { conclude, type EndCause, type WorkflowResult } from './conclusion.ts';
import { Conductor } from './conductor.ts';
import { contradictionOf, diverged } from './contradiction.ts';
import { EngineGone, EngineThread } from './engine-thread.ts';
import { HEAP_BYTES } from './limits.ts';
import { type ExecutionRecord, isInterrupt } from './record.ts';

/** Moves a script through recorded steps. Stops where the record contradicts what the script does now. */
export async function replayExecution(record: ExecutionRecord, worker: string | URL): Promise<WorkflowResult> {
  const conductor = new Conductor(record.settings);
  const engine = { steps: 0, fuel: 0, heapBytes: 0 };
  const end = (cause: EndCause) => conclude(conductor, cause, engine);
  if (record.end?.type === 'refused' || record.steps.length === 0) {
    return end(record.end ?? { type: 'diverged', message: 'The record has no steps and no end.' });
  }
  await using thread = new EngineThread(worker);
  const { script, args, state, seed } = record;
  try {
    const refused = await thread.open({
      script,
      state,
      seed,
      heapBytes: HEAP_BYTES,
      ...(args === undefined ? {} : { args }),
    });
    if (refused) return end({ type: 'refused', error: refused });
    let cause: EndCause | undefined;
    for (const step of record.steps) {
      if (cause) return end(diverged('The script ended before its record does.'));
      const deliveries: Delivery[] = conductor.takeLocal();
      for (const fact of step.facts) {
        const contradiction = contradictionOf(conductor, fact);
        if (contradiction) return end(contradiction);
        const delivery = conductor.deliver(fact, step.at);
        if (delivery) deliveries.push(delivery);
      }
      if (step.killed) break;
      const taken: Call[][] = [];
      const input = { at: step.at, deliveries, ...(step.interruptAt ? { interruptAt: step.interruptAt } : {}) };
      const output = await thread.step(input, (calls) => taken.push(calls));
      for (const calls of taken) conductor.take(calls, step.at);
      engine.steps += 1;
      engine.fuel += output.fuel;
      engine.heapBytes = Math.max(engine.heapBytes, output.heapBytes);
      if (output.end) cause = { type: 'body', end: output.end };
      else if (!output.broken) conductor.next(step.at);
      else if (!isInterrupt(output.broken)) cause = { type: 'broken', by: output.broken };
      else if (output.broken.reason === 'fuel') cause = { type: 'broken', by: { reason: 'fuel' } };
    }
    for (const { at, facts } of record.late) for (const fact of facts) conductor.deliver(fact, at);
    return end(cause ?? record.end ?? diverged('The record ends and the script has not.'));
  } catch (error) {
    if (error instanceof EngineGone) return end({ type: 'crashed', message: error.message });
    throw error;
  }
}
