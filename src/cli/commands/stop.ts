import { stopRun } from '../../client/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { locateRun } from './status.ts';

export async function stopCommand(
  context: CliContext,
  wanted: string,
  options: { json: boolean | undefined },
): Promise<number> {
  const { store, runId, directory } = await locateRun(context, wanted);
  const { outcome } = await stopRun(directory, { by: context.owner, client: context.toolbox.client });
  const snapshot = await store.read(runId);
  const proven =
    snapshot.view?.children.every((child) => child.process === null || child.exit?.tree === 'gone') ?? false;
  if (options.json) printJson(context, { runId, outcome, state: snapshot.state, processesGone: proven });
  else if (outcome === 'too-late') context.out(`Run ${runId} had ended already: ${snapshot.state}.`);
  else
    context.out(
      `Run ${runId} is ${snapshot.state}. ${proven ? 'All its processes are gone.' : 'Not all its processes are proven gone.'}`,
    );
  return EXIT.ok;
}
