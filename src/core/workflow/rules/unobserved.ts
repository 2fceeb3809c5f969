/** Launches, steers and host steps whose outcome nobody waits for, and outputs read off a promise. */
import { addAwait } from '../fix-await.ts';
import type { Launches } from '../launches.ts';
import { fateOf, type Unobserved } from '../observation.ts';
import type { ApiCall, Script } from '../script.ts';
import { propertyName } from '../syntax-tree.ts';

const OPERATIONS = new Set(['run', 'all', 'lanes', 'steer', 'host']);

export function checkUnobserved(script: Script, launches: Launches): void {
  for (const call of script.calls) {
    if (!OPERATIONS.has(call.member)) continue;
    const { observed, losses } = fateOf(script, call.node);
    const [first] = losses;
    if (!first) continue;
    if (observed) {
      for (const loss of losses) if (loss.how === 'read') reportRead(script, call, loss);
    } else reportLoss(script, call, first, isCertain(call, launches));
  }
}

/** A later identical launch that is awaited observes this one, too; nothing does that for steers and host steps. */
function isCertain(call: ApiCall, { launches, complete }: Launches): boolean {
  if (call.member === 'steer' || call.member === 'host') return true;
  if (!complete) return false;
  const own = new Set(launches.filter((launch) => launch.call === call).map(({ key }) => key));
  // A batch without items starts nothing.
  return own.size > 0 && !launches.some((launch) => launch.call !== call && own.has(launch.key));
}

function reportLoss(script: Script, call: ApiCall, loss: Unobserved, certain: boolean): void {
  const what = `runs.${call.member}`;
  const fix = addAwait(script, call, loss);
  if (loss.how === 'read') {
    const read = nameRead(loss);
    const advice = `${read} belongs to the result, which is there after await. Nobody waits for this launch, so the workflow fails at its end.`;
    script.report(certain ? 'launch_unobserved' : 'launch_output_unawaited', loss.at, advice, { fix });
    return;
  }
  const advice =
    call.member === 'steer' || call.member === 'host'
      ? 'Await it or return it.'
      : 'Await it, return it, or put several into one: await runs.all([{key, agent, task}, …]).';
  const handler =
    loss.how === 'handler' ? ' forEach throws away what its function returns; use map within Promise.all.' : '';
  const message = certain
    ? `Nobody waits for this ${what}: the workflow fails at its end. ${advice}${handler}`
    : `Nobody seems to wait for this ${what}; unless something else does, the workflow fails at its end. ${advice}${handler}`;
  script.report(certain ? 'launch_unobserved' : 'launch_maybe_unobserved', call.node.callee, message, { fix });
}

function reportRead(script: Script, call: ApiCall, loss: Unobserved): void {
  const message = `${nameRead(loss)} of a promise is undefined: the result of runs.${call.member} is there after await.`;
  script.report('launch_output_unawaited', loss.at, message, { fix: addAwait(script, call, loss) });
}

function nameRead({ at }: Unobserved): string {
  const name = at.type === 'MemberExpression' ? propertyName(at) : undefined;
  return name === undefined ? 'What is read here' : `"${name}"`;
}
