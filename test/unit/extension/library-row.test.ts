/** What an action of the Library does when the editor hands over the row, and when it does not. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openDefinition, revealDefinition } from '../../../src/extension/commands/library-commands.ts';
import { clickedAgent, ofRow } from '../../../src/extension/commands/library-row.ts';
import type { Services } from '../../../src/extension/services.ts';
import * as editor from './vscode-stand-in.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

const AGENT = { kind: 'agent', row: { name: 'pilot' } };
const SCRIPT = { kind: 'script', row: { path: 'a.workflow.js' } };
const CHOOSE = 'Choose an agent or a workflow in the Library, then try again.';

let selected: unknown;
const services = { library: { meant: (clicked: unknown) => clicked ?? selected } } as unknown as Services;

beforeEach(() => {
  editor.messages.length = 0;
  selected = undefined;
});

describe('an action of a row', () => {
  const done: unknown[] = [];
  const action = ofRow((_, clicked) => void done.push(clicked));
  beforeEach(() => {
    done.length = 0;
  });

  it('is done with the row a menu hands over, and with none for a key', () => {
    action(services, AGENT, undefined, 2);
    action(services, AGENT, undefined, 1);
    action(services, undefined, undefined, 0);
    expect(done).toEqual([AGENT, AGENT, undefined]);
    expect(editor.messages).toEqual([]);
  });

  it.each([undefined, null])('is not done when a menu hands over %s, and the person is told', (nothing) => {
    action(services, nothing, nothing, 2);
    expect(done).toEqual([]);
    expect(editor.messages).toEqual([CHOOSE]);
  });
});

describe('without its row', () => {
  it('an action of agents takes the selected one, and says so where that is none', () => {
    selected = AGENT;
    expect(clickedAgent(services, undefined)).toBe(AGENT);
    selected = SCRIPT;
    expect(clickedAgent(services, undefined)).toBeUndefined();
    expect(editor.messages).toEqual(['Choose an agent in the Library, then try again.']);
  });

  it.each([
    ['opening', openDefinition],
    ['revealing', revealDefinition],
  ])('%s says so', async (_, act) => {
    await act(services, undefined);
    selected = { kind: 'group' };
    await act(services, undefined);
    expect(editor.messages).toEqual([CHOOSE, CHOOSE]);
  });
});
