import { type AgentMention, didYouMean, type Finding, say, sentences } from '../../protocol/index.ts';
import { nearest } from '../spelling/index.ts';
import { toFinding } from './to-finding.ts';

/** Agents that a script names and nobody knows. Which there are depends on the machine, so these are warnings. */
export function agentFindings(
  mentions: readonly AgentMention[],
  known: readonly { name: string; aliases: readonly string[] }[],
): Finding[] {
  const names = known.flatMap(({ name, aliases }) => [name, ...aliases]);
  return mentions.flatMap(({ name, range }): Finding[] => {
    if (names.includes(name)) return [];
    const meant = nearest(name, names);
    const list = known.map((agent) => agent.name).join(', ');
    // The range is that of the literal: what is inside its quotes is replaced.
    const inner = {
      line: range.line,
      column: range.column + 1,
      endLine: range.endLine,
      endColumn: range.endColumn - 1,
    };
    return [
      toFinding({
        code: 'agent_not_found',
        message: sentences(say('agent_not_found', { name, known: list }), didYouMean(meant)),
        range,
        fix:
          meant === undefined
            ? undefined
            : {
                kind: 'rename_agent',
                title: say('fix:rename', { name: meant }),
                safe: false,
                edits: [{ ...inner, text: meant }],
              },
      }),
    ];
  });
}
