/** The first exchange with a Pi: is it there, which model and session has it, and are they the ones that were asked for. */
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { describeError, describeFaults, LanesError, lanesError, withDetail } from '../../../protocol/index.ts';
import { type KnownModel, modelUnknown, parseModels } from '../../models/index.ts';
import type { ChildReady } from '../child-driver.ts';
import type { PiProcess } from './pi-process.ts';

const state = z.object({
  model: z.nullish(z.object({ id: z.string(), provider: z.string() })),
  thinkingLevel: z.nullish(z.string()),
  sessionFile: z.nullish(z.string()),
  sessionId: z.string(),
  isStreaming: z._default(z.boolean(), false),
  isCompacting: z._default(z.boolean(), false),
  pendingMessageCount: z._default(z.number(), 0),
});
export type PiState = z.infer<typeof state>;

/**
 * Milliseconds for the first answer. Pi needs 0.3 s of CPU to start; many starting at once on a slow disk need long. It also
 * waits up to 30 s for the lock of `auth.json` that a Pi left which was killed in its start.
 */
export const HANDSHAKE_MS = 45_000;
const COMMAND_MS = 10_000;
const EXIT_MS = 1000;

export async function getState(pi: PiProcess, deadlineMs: number = COMMAND_MS): Promise<PiState> {
  const parsed = state.safeParse(await pi.rpc.request('get_state', {}, { deadlineMs }));
  if (!parsed.success) throw lanesError('pi_failed:state', { faults: describeFaults(parsed.error) });
  return parsed.data;
}

export async function getModels(pi: PiProcess): Promise<KnownModel[]> {
  return parseModels(await pi.rpc.request('get_available_models', {}, { deadlineMs: COMMAND_MS }));
}

/**
 * Waits for Pi and checks what it settled on. Pi starts normally without any usable model, and takes an unknown id under a
 * known provider as a custom model that fails at the first request: both are caught here, before anything is asked.
 */
export async function shakeHands(pi: PiProcess, requestedModel: string | undefined): Promise<ChildReady> {
  const first = await Promise.race([
    getState(pi, HANDSHAKE_MS).catch(async (error: unknown) => {
      // Its output ends a moment before its exit is known.
      if (await Promise.race([pi.exited, delay(EXIT_MS, false)])) return undefined;
      throw new LanesError(
        withDetail(
          describeError('child_handshake_timeout', { seconds: HANDSHAKE_MS / 1000 }),
          ` ${error instanceof Error ? error.message : ''}${stderrOf(pi)}`,
        ),
      );
    }),
    pi.exited.then(() => undefined),
  ]);
  if (!first) {
    const exit = await pi.drained();
    const error = exit.signal
      ? describeError('child_exited:start-signal', { signal: exit.signal })
      : describeError('child_exited:start-code', { code: exit.exitCode ?? '' });
    throw new LanesError(withDetail(error, stderrOf(pi)));
  }
  const { model } = first;
  if (!model || model.provider === 'unknown') {
    throw lanesError('model_none');
  }
  const name = `${model.provider}/${model.id}`;
  if (requestedModel !== undefined) {
    const known = await getModels(pi);
    if (!known.some((candidate) => candidate.name === requestedModel)) throw modelUnknown(requestedModel, known);
    if (name !== requestedModel) {
      throw lanesError('model_unknown:other', { name, wanted: requestedModel });
    }
  }
  return {
    session: { id: first.sessionId, file: first.sessionFile ?? null },
    model: name,
    thinking: first.thinkingLevel ?? null,
  };
}

function stderrOf(pi: PiProcess): string {
  const text = pi.stderr.text().trim();
  return text === '' ? '' : `\nIts error output:\n${text}`;
}
