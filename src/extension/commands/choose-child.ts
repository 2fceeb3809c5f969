import * as vscode from 'vscode';
import type { RunSnapshot } from '../../client/index.ts';
import { type ChildView, LanesError, type RunState } from '../../protocol/index.ts';
import { childState, findChild, isWorkflow } from '../runs/child-state.ts';
import type { Services } from '../services.ts';
import { runTitle } from '../trees/runs/run-words.ts';
import { childName, childTitle } from '../trees/runs/workflow/child-names.ts';
import { childText } from '../trees/runs/workflow/row-words.ts';

/** Of a run: its only child, or the one of a workflow that is meant. */
export interface ChosenChild {
  child: number;
  /** For runner and client: absent where there is only one. */
  named: number | undefined;
  /** As people know it. */
  title: string;
}

/**
 * The child a command is meant for: of a single run its only one; of a workflow the one whose row it came from, else the person
 * picks among those that fit. `undefined`: the person picked none.
 *
 * @param fits asked of children of workflows that a person could pick
 */
export async function chooseChild(
  services: Services,
  snapshot: RunSnapshot,
  node: unknown,
  fits: (state: RunState, child: ChildView) => boolean,
  noneText: string,
): Promise<ChosenChild | undefined> {
  const title = runTitle(snapshot);
  if (!isWorkflow(snapshot)) return { child: 1, named: undefined, title };
  const meant = services.tree.childOf(node);
  const given = meant === undefined ? undefined : findChild(snapshot, meant);
  if (given) return chosen(given, title);
  const children = snapshot.view?.children ?? [];
  const fitting = children.filter((child) => fits(childState(child, snapshot), child));
  const [only, ...more] = fitting;
  if (!only) throw new LanesError({ code: 'child_unknown', message: noneText });
  if (more.length === 0) return chosen(only, title);
  const picked = await vscode.window.showQuickPick(
    fitting.map((child) => ({
      label: childName(child),
      description: [child.agent, childText(child, childState(child, snapshot), snapshot)].join(' · '),
      child,
    })),
    { title, placeHolder: vscode.l10n.t('Which agent of the workflow?') },
  );
  return picked && chosen(picked.child, title);
}

function chosen(child: ChildView, title: string): ChosenChild {
  return { child: child.index, named: child.index, title: childTitle(title, child) };
}

/** The child an action names, of a workflow only. */
export function namedChild(services: Services, snapshot: RunSnapshot, node: unknown): ChosenChild | undefined {
  const index = isWorkflow(snapshot) ? services.tree.childOf(node) : undefined;
  const child = index === undefined ? undefined : findChild(snapshot, index);
  return child && chosen(child, runTitle(snapshot));
}
