import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { type Command, TOOLS_KEY, TOOLS_READY } from '../../../protocol/index.ts';
import type { KnownTool } from '../../tools/index.ts';
import { capabilitiesOf } from './arguments.ts';
import { getState, HANDSHAKE_MS } from './handshake.ts';
import { PiProcess } from './pi-process.ts';

/** Milliseconds for what Pi's extension says once Pi itself has answered: it was said before, and is only read later. */
const GRACE_MS = 2000;

const said = z.array(z.object({ name: z.string(), path: z.optional(z.string()), source: z.optional(z.string()) }));

export interface ToolProbe {
  pi: Command;
  /** Of Pi. */
  version: string;
  env: Record<string, string>;
  /** `pi-probe.mjs`, absolute. */
  extension: string;
  /** Folder whose project may bring extensions. */
  cwd: string;
  trust: 'approve' | 'no-approve';
}

/**
 * Starts a Pi without a session, asks which tools it and the extensions it finds have, and ends it. No model is asked: nothing is said
 * to Pi before our extension is there, which lets nothing through.
 *
 * @throws Error with the reason when Pi does not answer
 */
export async function probeTools({ pi, version, env, extension, cwd, trust }: ToolProbe): Promise<KnownTool[]> {
  const ready = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<KnownTool[]>();
  const { knowsTrust } = capabilitiesOf(version);
  const args = [
    ...['--mode', 'rpc', '--no-session', '--no-skills', '--no-prompt-templates', '--no-context-files'],
    ...['-e', extension],
    ...(knowsTrust ? [trust === 'approve' ? '--approve' : '--no-approve'] : []),
  ];
  const process = await PiProcess.start(
    { file: pi.file, args: [...pi.args, ...args] },
    { cwd, env, marker: 'probe' },
    {
      onRecord: (record) => {
        if (record.type !== 'extension_ui_request' || record.statusKey !== TOOLS_KEY) return;
        if (record.statusText === TOOLS_READY) ready.resolve();
        const tools = toolsIn(record.statusText ?? '');
        if (tools) answer.resolve(tools);
      },
      onNoise: () => undefined,
      onLimit: () => undefined,
      onStderr: () => undefined,
    },
  );
  try {
    const gone = process.exited.then(() => {
      throw new Error(process.stderr.text().trim() || 'Pi exited at its start');
    });
    gone.catch(() => undefined);
    await Promise.race([getState(process, HANDSHAKE_MS), gone]);
    await Promise.race([ready.promise, gone, late('Pi has not loaded the extension that asks')]);
    await Promise.race([process.rpc.request('prompt', { message: 'tools' }, { deadlineMs: HANDSHAKE_MS }), gone]);
    return await Promise.race([answer.promise, gone, late('another extension has taken the question')]);
  } finally {
    await process.end();
  }
}

async function late(reason: string): Promise<never> {
  await delay(GRACE_MS, undefined, { ref: false });
  throw new Error(reason);
}

function toolsIn(text: string): KnownTool[] | undefined {
  try {
    return said.parse(JSON.parse(text)).map(toTool);
  } catch {
    return undefined;
  }
}

/** Pi says of its own tools that they are `builtin`, and of others where they come from. */
function toTool({ name, path, source }: z.infer<typeof said>[number]): KnownTool {
  const isOwn = source === undefined || source === 'builtin' || path === undefined || path.startsWith('<');
  return isOwn ? { name } : { name, extension: path };
}
