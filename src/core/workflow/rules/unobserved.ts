/** Launches, steers and host steps whose outcome nobody waits for, and outputs read off a promise. */
import { type Phrase, say, sentences } from '../../../protocol/index.ts';
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
    const message = say('unobserved:read', { read: nameRead(loss) });
    script.report(certain ? 'launch_unobserved' : 'launch_output_unawaited', loss.at, message, { fix });
    return;
  }
  const isStep = call.member === 'steer' || call.member === 'host';
  const code = certain ? 'launch_unobserved' : 'launch_maybe_unobserved';
  const message = sentences(
    say(code, { what }),
    say(isStep ? 'unobserved:step' : 'unobserved:launch'),
    loss.how === 'handler' ? say('unobserved:handler') : undefined,
  );
  script.report(code, call.node.callee, message, { fix });
}

function reportRead(script: Script, call: ApiCall, loss: Unobserved): void {
  const message = say('launch_output_unawaited', { read: nameRead(loss), what: `runs.${call.member}` });
  script.report('launch_output_unawaited', loss.at, message, { fix: addAwait(script, call, loss) });
}

function nameRead({ at }: Unobserved): Phrase {
  const name = at.type === 'MemberExpression' ? propertyName(at) : undefined;
  return name === undefined ? say('read:pattern') : say('read:name', { name });
}
