/** The plan of a workflow as a document. */
import * as vscode from 'vscode';
import type { PlannedWorkflow, WorkflowPreview } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { formatDuration, type HostPolicy } from '../../protocol/index.ts';
import { agentsPlaceWords, type Workplace } from '../launch/workplaces.ts';
import { escaped, fenced, table } from '../markdown-text.ts';
import { agentsWords, dollars, launchWords, priceWords } from './plan-words.ts';

export function planDocument({ record }: PlannedWorkflow, preview: WorkflowPreview): string {
  const { workflow, cwd, timeoutMs } = record;
  const { globalConcurrencyLimit, maxSubagentSpawnsPerRun } = workflow.limits;
  const facts = [
    ...(workflow.file === null ? [] : [vscode.l10n.t('Script: {0}', escaped(workflow.file))]),
    vscode.l10n.t('Folder: {0}', escaped(cwd)),
    vscode.l10n.t('Place: {0}', escaped(agentsPlaceWords(workplaceOf(workflow)))),
    vscode.l10n.t('At most {0} agents, {1} at the same time', maxSubagentSpawnsPerRun, globalConcurrencyLimit),
    ...(workflow.output === undefined ? [] : [vscode.l10n.t('Result file: {0}', escaped(workflow.output))]),
    timeoutMs === null ? vscode.l10n.t('No time limit') : vscode.l10n.t('Time limit: {0}', formatDuration(timeoutMs)),
  ];
  const inputs =
    workflow.args === null
      ? []
      : [`## ${vscode.l10n.t('Inputs')}`, fenced(JSON.stringify(JSON.parse(workflow.args), null, 2), 'json')];
  return [
    `# ${vscode.l10n.t('Plan of {0}', escaped(workflow.name))}`,
    vscode.l10n.t('What the text of the script tells. Nothing has been started.'),
    facts.map((fact) => `- ${fact}`).join('\n'),
    ...inputs,
    ...agentParts(preview),
    ...modelParts(preview),
    ...commandParts(preview, workflow.host.mode),
    '',
  ].join('\n\n');
}

function workplaceOf({ worktree, baseRef }: PlannedWorkflow['record']['workflow']): Workplace {
  return worktree ? { kind: 'worktree', ...(baseRef === undefined ? {} : { baseRef }) } : { kind: 'folder' };
}

function agentParts(preview: WorkflowPreview): string[] {
  const { children, more } = preview;
  const known = children.map((child) => [
    escaped(child.key),
    child.lane === null ? '' : escaped(child.lane),
    escaped(launchWords(child).join(' · ')),
  ]);
  const open = more.map((one) => [
    escaped(one.key),
    '',
    [escaped(launchWords(one).join(' · ')), vscode.l10n.t('as many as the script decides')].join(' · '),
  ]);
  const head = [vscode.l10n.t('Key'), vscode.l10n.t('Lane'), vscode.l10n.t('Agent')];
  const rows = [...known, ...open];
  return [
    `## ${vscode.l10n.t('Agents')}`,
    `${vscode.l10n.t('In all: {0}.', agentsWords(preview))}`,
    ...(rows.length === 0 ? [] : [table(head, rows)]),
  ];
}

function modelParts({ models }: WorkflowPreview): string[] {
  if (models.length === 0) return [];
  const head = [
    vscode.l10n.t('Model'),
    vscode.l10n.t('Known agents'),
    vscode.l10n.t('Price'),
    vscode.l10n.t('Cache read, write'),
  ];
  const rows = models.map((model) => [
    escaped(model.name),
    String(model.children),
    escaped(priceWords(model)),
    model.price === null ? '' : escaped(`${dollars(model.price.cacheRead)}, ${dollars(model.price.cacheWrite)}`),
  ]);
  return [
    `## ${vscode.l10n.t('Models')}`,
    table(head, rows),
    vscode.l10n.t('Prices are those that Pi knows. What a run will cost cannot be told before.'),
  ];
}

function commandParts({ hosts, hasMoreHosts }: WorkflowPreview, mode: HostPolicy['mode']): string[] {
  if (hosts.length === 0 && !hasMoreHosts) return [];
  return [
    `## ${vscode.l10n.t('Commands on This Machine')}`,
    ...hosts.flatMap(({ key, command, isLiteral }) => [
      ...(isLiteral ? [] : [vscode.l10n.t('Made while the script runs, by this expression:')]),
      ...(key === undefined ? [vscode.l10n.t('Perhaps several times:')] : []),
      fenced(visible(command), isLiteral ? 'sh' : 'js'),
    ]),
    ...(hosts.length === 0 ? [vscode.l10n.t('Which ones cannot be told before.')] : []),
    consentWords(mode),
  ];
}

function consentWords(mode: HostPolicy['mode']): string {
  switch (mode) {
    case 'ask':
      return vscode.l10n.t('Each is asked about before it runs.');
    case 'allow':
      return vscode.l10n.t('They run without a question: the setting piLanes.hostCommands says so.');
    case 'deny':
      return vscode.l10n.t('None of them will run: the setting piLanes.hostCommands says so.');
    default:
      return mode satisfies never;
  }
}
