import { type AgentMention, type Finding, severityOf } from '../../protocol/index.ts';
import { nearest } from './nearest.ts';

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
    const hint = meant ? ` Did you mean "${meant}"?` : '';
    // The range is that of the literal: what is inside its quotes is replaced.
    const inner = {
      line: range.line,
      column: range.column + 1,
      endLine: range.endLine,
      endColumn: range.endColumn - 1,
    };
    return [
      {
        code: 'agent_not_found',
        severity: severityOf('agent_not_found'),
        message: `There is no agent named "${name}". Agents here: ${list}.${hint}`,
        ...range,
        ...(meant && {
          fix: { kind: 'rename_agent', title: `Change to "${meant}"`, safe: false, edits: [{ ...inner, text: meant }] },
        }),
      },
    ];
  });
}
