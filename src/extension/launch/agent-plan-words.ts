/** The plan of a launch in words. */
import * as vscode from 'vscode';
import { accessOf } from '../../core/launch/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { formatDuration } from '../../protocol/index.ts';
import type { AgentForecast, AgentPlan } from './foresee-agent.ts';

/** The models in the order they are tried, and who has named the first. */
export function modelsWords(
  plan: AgentPlan,
  { defaultModel, piDefault }: Pick<AgentForecast, 'defaultModel' | 'piDefault'>,
): string {
  const names = plan.planned.models.candidates.map(({ model, thinking }) => {
    const name = model ?? piDefault ?? vscode.l10n.t('not known before');
    return thinking === null ? name : vscode.l10n.t('{0}, thinking {1}', name, thinking);
  });
  const [first = '', ...others] = names.map(visible);
  const fallbacks = others.length === 0 ? [] : [vscode.l10n.t('else {0}', others.join(', '))];
  return [first, sourceWords(plan, defaultModel), ...fallbacks].join(' · ');
}

function sourceWords({ planned, agent }: AgentPlan, defaultModel: string | undefined): string {
  const [{ source }] = planned.models.candidates;
  if (planned.models.isExplicit) return vscode.l10n.t('chosen for this task');
  if (source === 'fallback') return vscode.l10n.t('what the agent names first cannot be used');
  if (agent.model && agent.model !== 'inherit') return vscode.l10n.t('named by the agent');
  if (defaultModel !== undefined) return vscode.l10n.t('from the setting {0}', 'piLanes.defaultModel');
  return vscode.l10n.t('default of Pi');
}

export function toolsWords({ planned }: AgentPlan): string {
  const { child } = planned;
  const { tools: list } = accessOf(child);
  const { only, denied = [], asked = [] } = child.tools;
  const none = vscode.l10n.t('none');
  const offered = only
    ? vscode.l10n.t('of what Pi offers: {0}', only.join(', ') || none)
    : vscode.l10n.t('what Pi offers');
  const refused = denied.length === 0 ? [] : [vscode.l10n.t('not {0}', denied.join(', '))];
  const parts = list ? [list.join(', ') || none] : [offered, ...refused];
  if (asked.length > 0) parts.push(vscode.l10n.t('asked about: {0}', asked.join(', ')));
  return visible(parts.join(' · '));
}

export function contextWords({ planned, agent }: AgentPlan): string {
  const { context } = planned.context;
  const begins = context === 'fork' ? vscode.l10n.t('a copy of a conversation') : vscode.l10n.t('a new conversation');
  return agent.inheritProjectContext ? vscode.l10n.t("{0}, with the project's instructions", begins) : begins;
}

export function limitsWords({ record, planned }: AgentPlan): string {
  const { toolTimeoutMs, toolBudget } = planned.child;
  return [
    record.timeoutMs === null
      ? vscode.l10n.t('no time limit')
      : vscode.l10n.t('ends after {0}', formatDuration(record.timeoutMs)),
    ...(toolTimeoutMs === undefined ? [] : [vscode.l10n.t('{0} for one tool call', formatDuration(toolTimeoutMs))]),
    ...(toolBudget === undefined ? [] : [vscode.l10n.t('{0} tool calls', toolBudget.hard)]),
  ].join(' · ');
}
