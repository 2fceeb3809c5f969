import { examine } from '../../client/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';

const MARK = { ok: 'ok     ', warning: 'warning', error: 'error  ' };

export async function doctorCommand(context: CliContext, options: { json: boolean | undefined }): Promise<number> {
  const cwd = folderOf(context);
  const checks = await examine(context.toolbox, cwd === undefined ? undefined : { cwd, projectTrusted: true });
  const bad = checks.some((check) => check.state === 'error');
  if (options.json) printJson(context, { ok: !bad, checks });
  else {
    for (const check of checks) {
      context.out(`${MARK[check.state]}  ${check.name.padEnd(8)} ${check.text}`);
      if (check.hint) context.out(`${' '.repeat(18)}→ ${check.hint}`);
    }
  }
  return bad ? EXIT.runFailed : EXIT.ok;
}

/** A folder that is gone has no agents, and is for others to complain about. */
function folderOf(context: CliContext): string | undefined {
  try {
    return context.cwd;
  } catch {
    return undefined;
  }
}
