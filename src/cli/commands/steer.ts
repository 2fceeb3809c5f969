import { steerRun } from '../../client/index.ts';
import { childOf } from '../child-option.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { locateRun } from './status.ts';

const WORDS = {
  queued: 'It is queued: the agent takes it up after its present step.',
  'follow-up': 'It is queued: the agent takes it up when it has done its present work.',
  delivered: 'Delivered: the model has it in front of it.',
  missed: 'Missed: the agent did not take it up.',
  failed: 'The agent refused it.',
};

export async function steerCommand(
  context: CliContext,
  wanted: string,
  message: string,
  options: { followUp: boolean | undefined; child: string | undefined; json: boolean | undefined },
): Promise<number> {
  const { runId, directory } = await locateRun(context, wanted);
  const child = options.child === undefined ? undefined : await childOf(directory, options.child);
  const receipt = await steerRun(
    context.toolbox,
    directory,
    context.owner,
    message,
    options.followUp ? 'follow-up' : 'steer',
    child?.index,
  );
  if (options.json) printJson(context, { runId, ...(child ? { child: child.index } : {}), ...receipt });
  else {
    const words = WORDS[receipt.state === 'queued' && options.followUp ? 'follow-up' : receipt.state];
    context.out(receipt.reason ? `${words} (${receipt.reason})` : words);
  }
  return receipt.state === 'queued' || receipt.state === 'delivered' ? EXIT.ok : EXIT.runFailed;
}
