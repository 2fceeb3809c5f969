/** The plan of a workflow in words. */
import * as vscode from 'vscode';
import type { PreviewedAgent, PreviewedChild, PreviewedModel, WorkflowPreview } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { errorWords } from '../error-words.ts';

/**
 * Whether a person is asked before it starts: it runs commands, starts more agents than `above`, or how many is not known, or
 * something of it will be refused.
 */
export function needsConsent(preview: WorkflowPreview, above: number): boolean {
  const { children, more, hasMore, hosts, hasMoreHosts } = preview;
  if (hosts.length > 0 || hasMoreHosts || hasMore || children.length > above) return true;
  return [...children, ...more].some(({ problem }) => problem !== null);
}

/** How much it is, in one line. */
export function summaryOf(preview: WorkflowPreview): string {
  const commands = commandsWords(preview);
  return commands === undefined ? agentsWords(preview) : `${agentsWords(preview)} · ${commands}`;
}

export function agentsWords({ children, hasMore }: WorkflowPreview): string {
  const { length } = children;
  if (length === 0) {
    return hasMore ? vscode.l10n.t('unknown number of agents') : vscode.l10n.t('it starts no agents');
  }
  if (hasMore) {
    return length === 1
      ? vscode.l10n.t('1 agent known, how many more is not')
      : vscode.l10n.t('{0} agents known, how many more is not', length);
  }
  return length === 1 ? vscode.l10n.t('1 agent') : vscode.l10n.t('{0} agents', length);
}

/** `undefined`: it runs none. */
export function commandsWords({ hosts, hasMoreHosts }: WorkflowPreview): string | undefined {
  const { length } = hosts;
  if (hasMoreHosts && length === 0) return vscode.l10n.t('it may run commands on this machine');
  if (length === 0) return undefined;
  if (hasMoreHosts) return vscode.l10n.t('commands on this machine, perhaps several times');
  return length === 1
    ? vscode.l10n.t('1 command on this machine')
    : vscode.l10n.t('{0} commands on this machine', length);
}

type Launch = PreviewedAgent & Partial<Pick<PreviewedChild, 'isSure' | 'resumes' | 'lane'>>;

/** Agent, model and what else is to be known of one launch. */
export function launchWords(launch: Launch): string[] {
  const { agent, model, thinking, problem, isSure = true, resumes = false, lane = null } = launch;
  if (problem) return [vscode.l10n.t('will be refused: {0}', errorWords(problem.toValue()).message)];
  return [
    agent ?? (resumes ? vscode.l10n.t('goes on with an agent before it') : vscode.l10n.t('agent not known before')),
    ...(agent === null ? [] : [modelWords(model, thinking)]),
    ...(agent !== null && resumes ? [vscode.l10n.t('in its session')] : []),
    ...(isSure
      ? []
      : [lane === null ? vscode.l10n.t('only if the script comes to it') : vscode.l10n.t('if its lane comes to it')]),
  ].map(visible);
}

function modelWords(model: string | null, thinking: string | null): string {
  if (model === null) return vscode.l10n.t('model not known before');
  return thinking === null ? model : `${model}:${thinking}`;
}

/** What a million tokens cost, as far as Pi knows it. */
export function priceWords({ price }: PreviewedModel): string {
  if (price === null) return vscode.l10n.t('no price known');
  return vscode.l10n.t('{0} in, {1} out per million tokens', dollars(price.input), dollars(price.output));
}

/** All that is known of a price: `$0.25`, `$3`. */
export function dollars(amount: number): string {
  return `$${Number(amount.toPrecision(6))}`;
}

/** A command as it stands, on one line. */
export function commandLine(command: string): string {
  return visible(command.trim()).replaceAll('\n', ' ⏎ ');
}
