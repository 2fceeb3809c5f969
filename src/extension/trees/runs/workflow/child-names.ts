/** What the children of a workflow are called, and who of them asks. */
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../../../client/index.ts';
import { visible } from '../../../../core/transcripts/index.ts';
import { type ChildView, isTerminal, type QuestionView } from '../../../../protocol/index.ts';

/** The name of a child: its key, else its number. */
export function childName({ key, index }: ChildView): string {
  return visible(key ?? String(index));
}

/** A child and its run, where it stands alone: `harbour · north.review`. */
export function childTitle(runTitle: string, child: ChildView): string {
  return `${runTitle} · ${childName(child)}`;
}

/** Who of a workflow waits for a person; `undefined`: nobody. */
export function askingText({ state, view }: Pick<RunSnapshot, 'state' | 'view'>): string | undefined {
  const [first, ...more] = view?.questions ?? [];
  if (!view?.workflow || !first || isTerminal(state)) return undefined;
  if (more.length > 0) return vscode.l10n.t('{0} questions', more.length + 1);
  const who = askerName(first, { view });
  return first.host ? vscode.l10n.t('{0} asks to run a command', who) : vscode.l10n.t('{0} asks', who);
}

/** The key of the child or of the command that a question is about. */
export function askerName({ host, child }: QuestionView, { view }: Pick<RunSnapshot, 'view'>): string {
  if (host) return visible(host.key);
  const asking = view?.children.find(({ index }) => index === child);
  return asking ? childName(asking) : vscode.l10n.t('the workflow');
}
