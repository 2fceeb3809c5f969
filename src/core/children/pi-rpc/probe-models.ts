import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '../../../protocol/index.ts';
import { isThinkingLevel, type KnownModel, type ThinkingLevel } from '../../models/index.ts';
import { getModels, getState, HANDSHAKE_MS } from './handshake.ts';
import { PiProcess } from './pi-process.ts';

export interface ModelProbe {
  models: KnownModel[];
  /** `provider/id` Pi would use when none is named; null when there is none. */
  defaultModel: string | null;
  /** The level it would think at then; null: it did not say. */
  defaultThinking: ThinkingLevel | null;
}

/** Starts a Pi without session, extensions or context, asks which models are usable, and ends it. */
export async function probeModels(pi: Command, env: Record<string, string>): Promise<ModelProbe> {
  const quiet = {
    onRecord: () => undefined,
    onNoise: () => undefined,
    onLimit: () => undefined,
    onStderr: () => undefined,
  };
  const args = [
    '--mode',
    'rpc',
    '--no-session',
    '--no-extensions',
    '--no-skills',
    '--no-prompt-templates',
    '--no-context-files',
  ];
  // Not in the project's folder: its settings must not take part.
  const process = await PiProcess.start(
    { file: pi.file, args: [...pi.args, ...args] },
    { cwd: tmpdir(), env, marker: 'probe' },
    quiet,
  );
  try {
    const state = await Promise.race([
      getState(process, HANDSHAKE_MS).catch(async (error: unknown) => {
        if (await Promise.race([process.exited, delay(1000, false)])) return undefined;
        throw error;
      }),
      process.exited.then(() => undefined),
    ]);
    if (!state) throw new Error(process.stderr.text().trim() || 'Pi exited at its start');
    const models = await getModels(process);
    const model =
      state.model && state.model.provider !== 'unknown' ? `${state.model.provider}/${state.model.id}` : null;
    const { thinkingLevel } = state;
    return { models, defaultModel: model, defaultThinking: isThinkingLevel(thinkingLevel) ? thinkingLevel : null };
  } finally {
    await process.end();
  }
}
