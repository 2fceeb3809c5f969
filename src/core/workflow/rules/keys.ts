/** Keys across the script: the same key for different launches, steering of what is never launched. */
import { didYouMean, isKnown, isObject, launchFingerprint, say, sentences } from '../../../protocol/index.ts';
import { nearest } from '../../spelling/index.ts';
import type { Launch, Launches } from '../launches.ts';
import { plainArguments, type Script } from '../script.ts';
import { plainText } from '../syntax-tree.ts';

export function checkKeys(script: Script, { launches, complete }: Launches): void {
  checkDuplicates(script, launches);
  checkHostKeys(script, launches);
  if (complete) checkSteerKeys(script, launches);
}

function checkDuplicates(script: Script, launches: readonly Launch[]): void {
  const byKey = Map.groupBy(launches, ({ key }) => key);
  for (const [key, [first, ...others]] of byKey) {
    if (!first) continue;
    for (const launch of others) {
      if (!differs(first, launch)) continue;
      // In one batch both are certain to be asked for together; elsewhere perhaps only one of them is.
      const sameBatch = launch.call === first.call && launch.call.member === 'all';
      if (launch.call === first.call && !sameBatch) continue;
      const related = [{ at: first.keyNode, message: say('duplicate_key:first', { key }) }];
      const outcome = say(sameBatch ? 'duplicate_key:batch' : 'duplicate_key:maybe');
      const message = sentences(say('duplicate_key', { key }), outcome);
      script.report(sameBatch ? 'duplicate_key' : 'duplicate_key_maybe', launch.keyNode, message, { related });
    }
  }
}

/** Whether two launches surely have different parameters. */
function differs(a: Launch, b: Launch): boolean {
  if (a.open || b.open || !isObject(a.params) || !isObject(b.params)) return false;
  if (isKnown(a.params) && isKnown(b.params)) return launchFingerprint(a.params) !== launchFingerprint(b.params);
  const fields = new Set([...Object.keys(a.params), ...Object.keys(b.params)]);
  for (const name of fields) {
    const [one, other] = [a.params[name], b.params[name]];
    if (
      name !== 'acceptance' &&
      isKnown(one) &&
      isKnown(other) &&
      launchFingerprint({ value: one }) !== launchFingerprint({ value: other })
    ) {
      return true;
    }
  }
  return false;
}

/** A host step never shares its key, neither with a child nor with another host step. */
function checkHostKeys(script: Script, launches: readonly Launch[]): void {
  const seen = new Map(launches.map(({ key, keyNode }) => [key, keyNode]));
  for (const { member, node } of script.calls) {
    const [keyNode] = member === 'host' ? plainArguments(node) : [];
    const key = keyNode && plainText(keyNode);
    if (key === undefined || !keyNode) continue;
    const first = seen.get(key);
    if (first) {
      script.report('duplicate_key_maybe', keyNode, say('duplicate_key:host', { key }), {
        related: [{ at: first, message: say('duplicate_key:first', { key }) }],
      });
    } else seen.set(key, keyNode);
  }
}

function checkSteerKeys(script: Script, launches: readonly Launch[]): void {
  const keys = new Set(launches.map(({ key }) => key));
  for (const { member, node } of script.calls) {
    const [keyNode] = member === 'steer' ? plainArguments(node) : [];
    const key = keyNode && plainText(keyNode);
    if (key === undefined || !keyNode || keys.has(key)) continue;
    const meant = nearest(key, keys);
    const quote = script.text[keyNode.start] ?? '"';
    const fix = meant && {
      kind: 'rename_key' as const,
      title: say('fix:rename', { name: meant }),
      safe: false,
      edits: [{ start: keyNode.start, end: keyNode.end, text: `${quote}${meant}${quote}` }],
    };
    const message = sentences(say('steer_key_unknown', { key }), didYouMean(meant));
    script.report('steer_key_unknown', keyNode, message, fix ? { fix } : {});
  }
}
