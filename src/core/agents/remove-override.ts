/** The text of a `settings.json` without the override of an agent. Everything else stays as it is. */
import { applyEdits, findNodeAtLocation, modify, parseTree } from 'jsonc-parser';
import { lanesError, wordsOf } from '../../protocol/index.ts';

/**
 * Takes with it what is empty then.
 *
 * @returns the given text when it has no such override
 * @throws LanesError `agent_config_invalid` when the file is no JSON
 */
export function removeOverride(given: string, agent: string, file: string): string {
  const mark = given.startsWith('\uFEFF') ? '\uFEFF' : '';
  const text = given.slice(mark.length);
  try {
    JSON.parse(text);
  } catch (error) {
    throw lanesError('agent_config_invalid:settings', { file, reason: wordsOf(error) }, { cause: error });
  }
  const tree = parseTree(text);
  const path = ['subagents', 'agentOverrides', agent];
  if (!tree || !findNodeAtLocation(tree, path)) return given;
  while (path.length > 1 && findNodeAtLocation(tree, path.slice(0, -1))?.children?.length === 1) path.pop();
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  return mark + applyEdits(text, modify(text, path, undefined, { formattingOptions }));
}
