/** What a file of settings says of an agent by its name, when the agent gets another one. Pure. */
import * as z from 'zod/mini';
import { EMPTY_JSON, editedJson } from '../json-files/index.ts';

const entries = z.record(z.string(), z.unknown());
const settings = z.object({
  subagents: z.optional(
    z.object({
      agentOverrides: z.optional(entries),
      agentOverridesByProvider: z.optional(z.record(z.string(), entries)),
    }),
  ),
});

export interface MovedOverrides {
  /** The file as it is then; `undefined`: it says nothing of the agent. */
  text: string | undefined;
  /** Settings that stay where they are, because there is one of the new name already. */
  left: string[];
}

/**
 * @param isShared another agent still has the old name: it keeps what is said of it, too
 * @throws LanesError `config_invalid` for settings that are no JSON
 */
export function movedOverrides(
  file: string,
  given: string | undefined,
  { from, to, isShared }: { from: string; to: string; isShared: boolean },
): MovedOverrides {
  const before = given ?? EMPTY_JSON;
  let text = before;
  const left: string[] = [];
  for (const [path, named] of entriesOf(file, before)) {
    if (!Object.hasOwn(named, from)) continue;
    if (Object.hasOwn(named, to)) {
      left.push([...path, from].join('.'));
      continue;
    }
    text = editedJson(file, text, [...path, to], named[from]) ?? text;
    if (!isShared) text = editedJson(file, text, [...path, from], undefined) ?? text;
  }
  return { text: text === before ? undefined : text, left };
}

function entriesOf(file: string, text: string): [path: string[], named: Record<string, unknown>][] {
  // Says what is wrong with a file that is no JSON; removes nothing.
  editedJson(file, text, ['subagents', 'agentOverrides', ''], undefined);
  const { subagents = {} } = settings.safeParse(JSON.parse(text.replace(/^\uFEFF/, ''))).data ?? {};
  const { agentOverrides = {}, agentOverridesByProvider = {} } = subagents;
  return [
    [['subagents', 'agentOverrides'], agentOverrides],
    ...Object.entries(agentOverridesByProvider).map(([provider, named]): [string[], Record<string, unknown>] => [
      ['subagents', 'agentOverridesByProvider', provider],
      named,
    ]),
  ];
}
