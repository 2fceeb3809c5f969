import { isAbsolute, resolve } from 'node:path';
import { resumeRun } from '../../client/index.ts';
import { readLaunchRecord } from '../../core/runs/index.ts';
import { lanesError } from '../../protocol/index.ts';
import { childOf } from '../child-option.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { waitForRun } from '../run-wait.ts';
import { waitForWorkflow } from '../workflow-wait.ts';
import { locateRun } from './status.ts';

export interface ResumeOptions {
  task?: string | undefined;
  fork?: boolean | undefined;
  cwd?: string | undefined;
  approve?: boolean | undefined;
  /** Of a workflow: the child that is meant. */
  child?: string | undefined;
  wait?: boolean | undefined;
  json: boolean | undefined;
}

function folder(context: CliContext, cwd: string): string {
  if (cwd.trim() === '') throw lanesError('launch_invalid:empty-copy-folder');
  return isAbsolute(cwd) ? cwd : resolve(context.cwd, cwd);
}

/** Continues a lost run, or starts a new run on the session of an ended one. */
export async function resumeCommand(context: CliContext, wanted: string, options: ResumeOptions): Promise<number> {
  const { store, directory } = await locateRun(context, wanted);
  const child = options.child === undefined ? undefined : await childOf(directory, options.child);
  const resumed = await resumeRun(context.toolbox, {
    directory,
    owner: context.owner,
    ...(child ? { child: child.index } : {}),
    ...(options.task === undefined ? {} : { task: options.task }),
    ...(options.fork || options.cwd !== undefined ? { fork: true } : {}),
    ...(options.cwd === undefined ? {} : { cwd: folder(context, options.cwd) }),
    ...(options.approve ? { trust: 'approve' as const } : {}),
  });
  const { kind, runId } = resumed;
  if (options.wait) {
    const goesOn = kind === 'continued' ? 'goes on where it stood' : 'started';
    if (!options.json) context.err(`Run ${runId} ${goesOn}. Ctrl+C stops waiting, not the run.`);
    const { mode } = await readLaunchRecord(resumed.directory);
    const awaited = { store, runId, directory: resumed.directory };
    return mode === 'workflow'
      ? waitForWorkflow(context, awaited, options.json)
      : waitForRun(context, awaited, options.json);
  }
  if (options.json) printJson(context, { kind: resumed.kind, runId: resumed.runId, directory: resumed.directory });
  else if (resumed.kind === 'continued') context.out(`Run ${resumed.runId} goes on where it stood.`);
  else context.out(resumed.runId);
  return EXIT.ok;
}
