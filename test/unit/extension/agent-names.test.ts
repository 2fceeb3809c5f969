/** What agents can name, for whoever types: what was heard last, at once; asked in the background, and only with trust. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Toolbox } from '../../../src/client/index.ts';
import type { KnownNames } from '../../../src/core/agent-language/index.ts';
import { AgentNames } from '../../../src/extension/editor/agent-names.ts';
import * as editor from './vscode-stand-in.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

const toolbox = new Toolbox({
  env: { HOME: '/nowhere' },
  distDirectory: '/nowhere',
  client: { kind: 'test', version: '0' },
});
const first: KnownNames = { tools: [{ name: 'read' }] };
const second: KnownNames = { tools: [{ name: 'read' }, { name: 'web' }] };

let asked: { cwd: string; trust: string; answer: PromiseWithResolvers<KnownNames> }[];
let looked: (readonly string[])[];
let names: AgentNames;
let changes: number;

beforeEach(() => {
  vi.useFakeTimers();
  editor.workspace.isTrusted = true;
  asked = [];
  looked = [];
  changes = 0;
  names = new AgentNames(toolbox, {
    knownNames: (_, place) => {
      const answer = Promise.withResolvers<KnownNames>();
      asked.push({ ...place, answer });
      return answer.promise;
    },
    skillsFor: async (_, cwd, trust, own = []) => {
      looked.push([cwd, trust, ...own]);
      return [];
    },
  });
  names.onDidChange(() => {
    changes += 1;
  });
});
afterEach(() => {
  names.dispose();
  vi.useRealTimers();
});

async function answer(known: KnownNames): Promise<void> {
  asked.at(-1)?.answer.resolve(known);
  await vi.advanceTimersByTimeAsync(0);
}

describe('names', () => {
  it('are told at once as far as they are known, and asked for once meanwhile', async () => {
    expect(names.of('/work')).toEqual({});
    expect(names.of('/work')).toEqual({});
    expect(asked.map(({ cwd, trust }) => [cwd, trust])).toEqual([['/work', 'approve']]);
    expect(names.isAsking('/work')).toBe(true);
    await answer(first);
    expect(names.isAsking('/work')).toBe(false);
    expect(names.of('/work')).toEqual(first);
    expect([asked.length, changes]).toEqual([1, 1]);
  });

  it('are asked for again after a while, and the old ones told until then', async () => {
    names.of('/work');
    await answer(first);
    await vi.advanceTimersByTimeAsync(61_000);
    expect(names.of('/work')).toEqual(first);
    expect(asked).toHaveLength(2);
    await answer(first);
    expect(changes).toBe(1);
    await vi.advanceTimersByTimeAsync(61_000);
    names.of('/work');
    await answer(second);
    expect(names.of('/work')).toEqual(second);
    expect(changes).toBe(2);
  });

  it('are those of each folder', async () => {
    names.of('/work');
    await answer(first);
    expect(names.of('/other')).toEqual({});
    expect(asked.map(({ cwd }) => cwd)).toEqual(['/work', '/other']);
  });

  it('are asked of nobody without trust, nor by whoever only wants what was heard', async () => {
    expect(names.heard('/work')).toEqual({});
    editor.workspace.isTrusted = false;
    expect(names.of('/work')).toEqual({});
    expect(asked).toEqual([]);
    editor.workspace.isTrusted = true;
    names.of('/work');
    await answer(first);
    expect(names.heard('/work')).toEqual(first);
    editor.workspace.isTrusted = false;
    expect(names.of('/work')).toEqual({});
  });

  it('change nothing any more once nobody needs them', async () => {
    names.of('/work');
    names.dispose();
    await answer(first);
    expect(changes).toBe(0);
  });
});

it('skills are looked for once a moment, those of the project only with trust', async () => {
  await names.skills('/work', ['/own']);
  await names.skills('/work', ['/own']);
  expect(looked).toEqual([['/work', 'approve', '/own']]);
  await vi.advanceTimersByTimeAsync(1001);
  await names.skills('/work', ['/own']);
  expect(looked).toHaveLength(2);
  editor.workspace.isTrusted = false;
  await names.skills('/work', []);
  expect(looked.at(-1)).toEqual(['/work', 'no-approve']);
});
