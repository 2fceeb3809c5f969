import { setTimeout as delay } from 'node:timers/promises';
import { TranscriptFollower } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { isTerminal, LanesError, lanesError } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { locateRun } from './status.ts';

const FOLLOW_MS = 200;

export async function transcriptCommand(
  context: CliContext,
  wanted: string,
  options: { follow: boolean | undefined; json: boolean | undefined },
): Promise<number> {
  if (options.follow && options.json) {
    throw lanesError('launch_invalid:follow-json');
  }
  const { store, runId, directory } = await locateRun(context, wanted);
  const follower = new TranscriptFollower(directory, 1);
  await follower.refresh();
  if (options.json) {
    printJson(context, { runId, directory, text: follower.toString() });
    return EXIT.ok;
  }
  if (!options.follow) {
    const text = follower.toString();
    const { view, error } = await store.read(runId);
    if (text === '' && !view && error) throw new LanesError(error);
    context.out(text === '' ? 'Nothing has been said yet.' : text);
    return EXIT.ok;
  }
  for (let shown = 0; ; ) {
    const { state, error, view } = await store.read(runId);
    // Removed meanwhile, or damaged: there is nothing to follow.
    if (!view && error) throw new LanesError(error);
    const over = isTerminal(state) || state === 'lost' || state === 'unknown';
    await follower.refresh();
    const parts = follower.finished(shown);
    shown += parts.length;
    for (const part of parts) context.out(part);
    if (over) {
      context.out(`── ${state}`);
      if (error && state !== 'complete') context.out(visible([error.message, error.hint].filter(Boolean).join('\n')));
      return EXIT.ok;
    }
    await delay(FOLLOW_MS);
  }
}
