/** Which child of a run a command is meant for. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseChild, namedChild } from '../../../src/extension/commands/choose-child.ts';
import type { Services } from '../../../src/extension/services.ts';
import { isTerminal } from '../../../src/protocol/index.ts';
import { aSnapshot } from './snapshots.ts';
import * as editor from './vscode-stand-in.ts';
import { asks, aWorkflowSnapshot, begun, settled, works } from './workflows.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

/** The row an action came from, as the tree knows it. */
const services = {
  tree: { childOf: (node: unknown) => (node as { child?: number } | undefined)?.child },
} as unknown as Services;

const choose = (snapshot: Parameters<typeof chooseChild>[1], node?: unknown) =>
  chooseChild(services, snapshot, node, (state) => !isTerminal(state), 'Nobody is at work.');

const two = [...begun(1, 'a'), ...begun(2, 'b'), ...begun(3, 'c'), settled(3)];

beforeEach(() => {
  editor.picks.shown = [];
  editor.picks.answer = undefined;
});

describe('the child a command is meant for', () => {
  it('is of a single run the only one, which nobody has to name', async () => {
    expect(await choose(aSnapshot('running', { task: 'Mend the fence.' }))).toEqual({
      child: 1,
      named: undefined,
      title: 'Mend the fence.',
    });
  });

  it('is of a workflow the one whose row it came from, whatever its state', async () => {
    const c = { child: 3, named: 3, title: 'harbour · c' };
    expect(await choose(aWorkflowSnapshot(two), { child: 3 })).toEqual(c);
    expect(namedChild(services, aWorkflowSnapshot(two), { child: 3 })).toEqual(c);
    expect(namedChild(services, aWorkflowSnapshot(two), {})).toBeUndefined();
    expect(editor.picks.shown).toEqual([]);
  });

  it('is picked by the person among those that fit, with what each does', async () => {
    editor.picks.answer = 'b';
    const chosen = await choose(aWorkflowSnapshot([...two, works(1, 'bash'), asks(2)]));
    expect(editor.picks.shown).toEqual([
      ['a', 'scout · bash'],
      ['b', 'scout · waiting'],
    ]);
    expect(chosen).toEqual({ child: 2, named: 2, title: 'harbour · b' });
    editor.picks.answer = undefined;
    expect(await choose(aWorkflowSnapshot(two))).toBeUndefined();
  });

  it('is the one that fits without a question, and none where none does', async () => {
    expect(await choose(aWorkflowSnapshot([...two, settled(1)]))).toMatchObject({ child: 2 });
    const over = [...two, settled(1), settled(2)];
    await expect(choose(aWorkflowSnapshot(over))).rejects.toMatchObject({
      code: 'child_unknown',
      message: 'Nobody is at work.',
    });
  });
});
