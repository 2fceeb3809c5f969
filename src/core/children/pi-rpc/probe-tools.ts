import * as z from 'zod/mini';
import { type Command, lanesError, TOOLS_KEY } from '../../../protocol/index.ts';
import type { KnownTool } from '../../tools/index.ts';
import { capabilitiesOf } from './arguments.ts';
import { PiProcess } from './pi-process.ts';

/** Milliseconds until Pi must have answered: it loads the person's extensions, which may be many. */
const ANSWER_MS = 45_000;

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

/** Starts a Pi without a session, asks which tools it and the extensions it finds have, and ends it. No model is asked. */
export async function probeTools({ pi, version, env, extension, cwd, trust }: ToolProbe): Promise<KnownTool[]> {
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
        const parsed = said.safeParse(JSON.parse(record.statusText ?? '[]'));
        if (parsed.success) answer.resolve(parsed.data.map(toTool));
      },
      onNoise: () => undefined,
      onLimit: () => undefined,
      onStderr: () => undefined,
    },
  );
  const timer = setTimeout(() => answer.reject(lanesError('pi_failed:unasked', { reason: 'no answer' })), ANSWER_MS);
  try {
    void process.exited.then(() =>
      answer.reject(lanesError('pi_failed:unasked', { reason: process.stderr.text().trim() || 'it exited' })),
    );
    await process.rpc.request('prompt', { message: 'tools' }, { deadlineMs: ANSWER_MS }).catch((error: unknown) => {
      answer.reject(error);
    });
    return await answer.promise;
  } finally {
    clearTimeout(timer);
    await process.end();
  }
}

/** Pi says of its own tools that they are `builtin`, and of others where they come from. */
function toTool({ name, path, source }: z.infer<typeof said>[number]): KnownTool {
  const isOwn = source === undefined || source === 'builtin' || path === undefined || path.startsWith('<');
  return isOwn ? { name } : { name, extension: path };
}
