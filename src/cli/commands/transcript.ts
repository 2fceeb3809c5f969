import { setTimeout as delay } from 'node:timers/promises';
import { TranscriptFollower } from '../../client/index.ts';
import { isTerminal } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { locateRun } from './status.ts';

const FOLLOW_MS = 200;

export async function transcriptCommand(
  context: CliContext,
  wanted: string,
  options: { follow: boolean | undefined; json: boolean | undefined },
): Promise<number> {
  const { store, runId, directory } = await locateRun(context, wanted);
  const follower = new TranscriptFollower(directory, 1);
  await follower.refresh();
  if (options.json) {
    printJson(context, { runId, directory, text: follower.toString() });
    return EXIT.ok;
  }
  let shown = '';
  const show = () => {
    const text = follower.toString();
    if (text === shown) return;
    // Finished parts never change; the part that is still being written is printed once it is finished.
    const common = commonLength(shown, text);
    process.stdout.write(text.slice(common));
    shown = text;
  };
  if (!options.follow) {
    show();
    context.out(shown === '' ? 'Nothing has been said yet.' : '');
    return EXIT.ok;
  }
  for (;;) {
    const { state } = await store.read(runId);
    const over = isTerminal(state) || state === 'lost';
    await follower.refresh();
    show();
    if (over) return EXIT.ok;
    await delay(FOLLOW_MS);
  }
}

function commonLength(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return i;
}
