/** The plan of a launch as a document: all that will run, prompts to the letter. */
import * as vscode from 'vscode';
import { accessOf } from '../../core/launch/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { formatDuration } from '../../protocol/index.ts';
import { errorWords } from '../error-words.ts';
import { escaped, fenced } from '../markdown-text.ts';
import { contextWords, limitsWords, modelsWords, toolsWords } from './agent-plan-words.ts';
import type { AgentForecast, AgentPlan } from './foresee-agent.ts';
import { workplaceWords } from './workplaces.ts';

export function agentPlanDocument(agent: string, forecast: AgentForecast): string {
  const { plan, problem } = forecast;
  const errors = [...(problem ? [problem] : []), ...(plan?.planned.warnings ?? [])].map((error) => {
    const { message, hint } = errorWords(error);
    return `- ${[message, hint]
      .filter(Boolean)
      .map((text) => escaped(visible(text ?? '')))
      .join(' ')}`;
  });
  return [
    `# ${vscode.l10n.t('Plan of {0}', escaped(agent))}`,
    problem
      ? vscode.l10n.t('It cannot be launched like this. Nothing has been started.')
      : vscode.l10n.t('What a launch will run. Nothing has been started.'),
    ...(errors.length === 0 ? [] : [`## ${vscode.l10n.t('To Be Known')}`, errors.join('\n')]),
    ...(plan ? planParts(plan, forecast) : []),
    '',
  ].join('\n\n');
}

function planParts(plan: AgentPlan, forecast: AgentForecast): string[] {
  const { record, planned, agent } = plan;
  const { child, prompt, systemPrompt } = planned;
  const { extensions, skills } = accessOf(child);
  const { memory, wait } = child;
  const facts: [string, string | undefined][] = [
    [vscode.l10n.t('Agent'), `${agent.name} (${agent.file})`],
    [vscode.l10n.t('Model'), modelsWords(plan, forecast)],
    [vscode.l10n.t('Tools'), toolsWords(plan)],
    [vscode.l10n.t('Extensions'), foundWords(extensions)],
    [vscode.l10n.t('Skills'), foundWords(skills)],
    [vscode.l10n.t('Context'), contextWords(plan)],
    [vscode.l10n.t('Memory'), memory?.file],
    [vscode.l10n.t('Folder'), record.cwd],
    [vscode.l10n.t('Works'), workplaceWords(forecast.workplace)],
    [vscode.l10n.t('Output'), record.child.output?.path],
    [vscode.l10n.t('Limits'), limitsWords(plan)],
    [vscode.l10n.t('Waits for runs'), wait.enabled ? formatDuration(wait.defaultTimeoutMs) : vscode.l10n.t('no')],
    ['Pi', record.pi.version],
  ];
  return [
    facts.flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${escaped(visible(value))}`])).join('\n'),
    `## ${vscode.l10n.t('Prompt')}`,
    fenced(visible(prompt), 'markdown'),
    `## ${vscode.l10n.t('System Prompt')}`,
    agent.systemPromptMode === 'replace'
      ? vscode.l10n.t("In the place of Pi's own:")
      : vscode.l10n.t("Behind Pi's own:"),
    fenced(visible(systemPrompt), 'markdown'),
  ];
}

function foundWords({ found, paths }: { found: boolean; paths: readonly string[] }): string {
  const all = [...(found ? [vscode.l10n.t('those Pi finds')] : []), ...paths];
  return all.join(', ') || vscode.l10n.t('none');
}
