import { setTimeout as delay } from 'node:timers/promises';
import { type RunStore, TranscriptFollower } from '../../client/index.ts';
import { childNames } from '../../core/runs/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { isTerminal, LanesError, lanesError } from '../../protocol/index.ts';
import { childOf } from '../child-option.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { nextStep } from '../next-step.ts';
import { locateRun } from './status.ts';

const FOLLOW_MS = 200;

export async function transcriptCommand(
  context: CliContext,
  wanted: string,
  options: { follow: boolean | undefined; child: string | undefined; json: boolean | undefined },
): Promise<number> {
  if (options.follow && options.json) {
    throw lanesError('launch_invalid:follow-json');
  }
  const { store, runId, directory } = await locateRun(context, wanted);
  const index = await childToShow(store, runId, options.child);
  const follower = new TranscriptFollower(directory, index);
  await follower.refresh();
  if (options.json) {
    printJson(context, { runId, directory, text: follower.toString() });
    return EXIT.ok;
  }
  if (!options.follow) {
    const text = follower.toString();
    const { view, error } = await store.read(runId);
    if (text === '' && !view && error) throw new LanesError(error);
    const none = view?.workflow && view.children.length === 0;
    const nothing = none
      ? `The workflow has started no agent. See \`pi-lanes status ${runId}\`.`
      : 'Nothing has been said yet.';
    context.out(text === '' ? nothing : text);
    return EXIT.ok;
  }
  for (let shown = 0; ; ) {
    const { state, error, view } = await store.read(runId);
    // Removed meanwhile, or damaged: there is nothing to follow.
    if (!view && error) throw new LanesError(error);
    const child = view?.workflow && view.children.find((one) => one.index === index);
    const over = isTerminal(state) || state === 'lost' || state === 'unknown' || (child && isTerminal(child.state));
    await follower.refresh();
    const parts = follower.finished(shown);
    shown += parts.length;
    for (const part of parts) context.out(part);
    if (over) {
      context.out(`── ${child?.state ?? state}`);
      const why = child ? child.error : error;
      if (why && (child?.state ?? state) !== 'complete')
        context.out(visible([why.message, nextStep(why, runId)].filter(Boolean).join('\n')));
      return EXIT.ok;
    }
    await delay(FOLLOW_MS);
  }
}

/** Of a workflow with several children one has to be named. */
async function childToShow(store: RunStore, runId: string, name: string | undefined): Promise<number> {
  const { view } = await store.read(runId);
  if (name === undefined) {
    const [only, ...more] = view?.children ?? [];
    if (view && more.length > 0) throw lanesError('child_unknown:needed', { known: childNames(view) });
    return only?.index ?? 1;
  }
  return childOf(store.directoryOf(runId), name).then(({ index }) => index);
}
