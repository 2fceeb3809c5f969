/** What an agent is, and where each part of that comes from; made when somebody points at its row. */
import type * as vscode from 'vscode';
import { l10n } from 'vscode';
import type { FoundAgent, SettingPlace } from '../../../core/agents/index.ts';
import { agentProblemWords } from '../../editor/agent-diagnostics.ts';
import type { AgentRow } from '../../library/library-layout.ts';
import { sourceWords } from '../../library/whose.ts';
import { TooltipLines } from '../runs/tooltip-lines.ts';

const MAX_PROBLEMS = 5;

export function createAgentTooltip(row: AgentRow): vscode.MarkdownString {
  const lines = new TooltipLines();
  const { name, agent, file, group, state, problems, unsupported } = row;
  lines.add(l10n.t('Agent'), name);
  lines.add(l10n.t('Description'), agent?.description.replace(/\s+/g, ' '));
  lines.add(l10n.t('From'), sourceWords(row));
  if (group !== 'builtin') lines.add(l10n.t('File'), file);
  if (state.kind === 'disabled') lines.add(l10n.t('Disabled by'), placeWords(state.by));
  if (state.kind === 'hidden') lines.add(l10n.t('Replaced by'), state.by.file);
  if (agent) partLines(lines, agent);
  lines.add(l10n.t('Cannot be launched yet'), unsupported.join(', '));
  for (const problem of problems.slice(0, MAX_PROBLEMS))
    lines.add(l10n.t('Line {0}', problem.line), agentProblemWords(problem));
  if (problems.length > MAX_PROBLEMS)
    lines.add(l10n.t('More'), l10n.t('{0} further problems', problems.length - MAX_PROBLEMS));
  return lines.text;
}

function partLines(lines: TooltipLines, agent: FoundAgent): void {
  const { model, thinking, tools, mcpDirectTools, toolExtensions, skills, aliases, fallbackModels } = agent;
  lines.add(l10n.t('Model'), model === 'inherit' ? l10n.t('that of the parent') : (model ?? l10n.t('default')));
  lines.add(l10n.t('Otherwise'), fallbackModels?.join(', '));
  lines.add(l10n.t('Thinking'), thinking === false ? l10n.t('no level') : thinking);
  const named = tools && [...tools, ...mcpDirectTools, ...toolExtensions];
  lines.add(l10n.t('Tools'), named ? named.join(', ') || l10n.t('none') : l10n.t('those Pi offers'));
  lines.add(l10n.t('Skills'), skills?.join(', '));
  lines.add(l10n.t('Also called'), aliases.join(', '));
  for (const [field, place] of Object.entries(agent.fromSettings ?? {}))
    lines.add(l10n.t('Changed by settings'), l10n.t('{0}, by {1}', field, placeWords(place)));
}

function placeWords({ setting, file, line }: SettingPlace): string {
  return l10n.t('{0} in {1}, line {2}', setting, file, line);
}
