/** Two of a script that would write the same file, as far as their texts tell. */
import { posix } from 'node:path';
import type { AnyNode } from 'acorn';
import { isObject, say, sentences } from '../../../protocol/index.ts';
import type { Launch, Launches } from '../launches.ts';
import { literalValue } from '../literals.ts';
import { childOutput } from '../output-paths.ts';
import { plainArguments, type Script } from '../script.ts';
import { plainText } from '../syntax-tree.ts';

interface Writer {
  key: string;
  at: AnyNode;
  launch?: Launch;
}

/** @param aggregate the file of the workflow, absolute; absent: it has none, or it is not known yet */
export function checkOutputs(script: Script, { launches }: Launches, aggregate?: string): void {
  const children = launches.flatMap((launch): [string, Writer][] => {
    const path = outputOf(launch.params) ?? besideOf(launch, aggregate);
    return path === undefined ? [] : [[path, { key: launch.key, at: launch.keyNode, launch }]];
  });
  // What commands write lies in another folder than what children write.
  for (const writers of [children, hostWriters(script)]) checkShared(script, writers);
}

function hostWriters(script: Script): [string, Writer][] {
  return script.calls.flatMap(({ member, node }): [string, Writer][] => {
    const [keyNode, params] = member === 'host' ? plainArguments(node) : [];
    const key = keyNode && plainText(keyNode);
    const path = outputOf(literalValue(params));
    return keyNode && key !== undefined && path !== undefined ? [[path, { key, at: keyNode }]] : [];
  });
}

function checkShared(script: Script, writers: readonly [string, Writer][]): void {
  const byPath = new Map<string, Writer>();
  for (const [path, writer] of writers) {
    const first = byPath.get(path);
    if (!first) byPath.set(path, writer);
    else if (first.key !== writer.key) {
      const isCertain = startTogether(first.launch, writer.launch);
      const message = sentences(
        say('output_shared', { first: first.key, second: writer.key, path }),
        say(isCertain ? 'output_shared:batch' : 'output_shared:maybe'),
      );
      script.report(isCertain ? 'output_shared' : 'output_shared_maybe', writer.at, message, {
        related: [{ at: first.at, message: say('output_shared:first', { key: first.key }) }],
      });
    }
  }
}

/** In one batch, or as the first stages of lanes, both are certain to be asked for together. */
function startTogether(a: Launch | undefined, b: Launch | undefined): boolean {
  return a !== undefined && a.call === b?.call && a.call.member !== 'run' && !a.later && !b.later;
}

function besideOf({ key, params, open }: Launch, aggregate: string | undefined): string | undefined {
  if (aggregate === undefined || open || !isObject(params) || 'output' in params) return undefined;
  return childOutput({ children: '', aggregate }, key, params);
}

function outputOf(params: unknown): string | undefined {
  const output = isObject(params) ? params['output'] : undefined;
  return typeof output === 'string' && output.trim() !== '' ? posix.normalize(output.trim()) : undefined;
}
