/** Two of a workflow that write the same file: refused with both keys, before anything of the group starts. */
import { describe, expect, it } from 'vitest';
import type { LaunchCall } from '../../../src/core/workflow/engine/calls.ts';
import { Conductor } from '../../../src/core/workflow/engine/conductor.ts';
import { childOutput } from '../../../src/core/workflow/output-paths.ts';

let lastId = 0;

function conductor(
  outputs: { children: string; hosts: string; aggregate?: string } | null = {
    children: '/run/outputs',
    hosts: '/work',
  },
) {
  return new Conductor({
    globalConcurrencyLimit: 20,
    maxSubagentSpawnsPerRun: 3,
    capabilities: { steer: true, host: true, status: true, resolveResume: true },
    ...(outputs ? { outputs } : {}),
  });
}

function launch(key: string, output?: unknown): { launch: LaunchCall } {
  lastId += 1;
  const params = { agent: 'worker', task: 't', ...(output === undefined ? {} : { output }) };
  return { launch: { id: lastId, key, params } as LaunchCall };
}

function batch(on: Conductor, ...items: { launch: LaunchCall }[]): string[] {
  on.take([{ type: 'batch', items }], 1);
  return on.next(1).map((effect) => ('key' in effect ? effect.key : ''));
}

function settle(on: Conductor, id: number, key: string, ok: boolean): void {
  const value = { key, ok, output: '', artifactPaths: [], ...(ok ? {} : { error: 'no' }) };
  on.deliver({ id, key, ok: true, value }, 2);
}

function host(on: Conductor, key: string, output: string): boolean {
  lastId += 1;
  on.take([{ type: 'host', id: lastId, key, params: { kind: 'command', command: 'x', timeoutMs: 1, output } }], 1);
  return on.next(1).length > 0;
}

const said = (on: Conductor) => on.trace.flatMap(({ key, error }) => (error === undefined ? [] : [`${key}: ${error}`]));

describe('an output', () => {
  it.each([
    ['the same name', 'report.md', 'report.md'],
    ['another name of the same file', 'report.md', './sub/../report.md'],
    ['the whole path', 'report.md', '/run/outputs/report.md'],
  ])('of two in one batch refuses both: %s', (_, one, other) => {
    const on = conductor();
    expect(batch(on, launch('a', one), launch('b', other), launch('c'))).toEqual([]);
    expect(said(on)).toEqual(
      ['a', 'b', 'c'].map(
        (key) =>
          `${key}: Launching 'a', 'b', 'c' was refused: 'a' and 'b' would both write /run/outputs/report.md. Give each an output of its own. No child of the group was started.`,
      ),
    );
    // It spends no place and claims no file.
    expect(batch(on, launch('d', one), launch('e'), launch('f'))).toEqual(['d', 'e', 'f']);
  });

  it('of another that is at work, or has ended well, is refused', () => {
    const on = conductor();
    const first = launch('a', 'report.md');
    expect(batch(on, first)).toEqual(['a']);
    expect(batch(on, launch('b', 'report.md'))).toEqual([]);
    settle(on, first.launch.id, 'a', true);
    expect(batch(on, launch('c', 'report.md'))).toEqual([]);
    expect(said(on)).toHaveLength(2);
  });

  it('of one that failed is free for whoever tries again', () => {
    const on = conductor();
    const first = launch('a', 'report.md');
    batch(on, first);
    settle(on, first.launch.id, 'a', false);
    expect(batch(on, launch('a-again', 'report.md'))).toEqual(['a-again']);
  });

  it('of a command and of a child is found to be the same, in both directions', () => {
    const on = conductor();
    expect(batch(on, launch('a', '/work/logs/ci.log'))).toEqual(['a']);
    expect(host(on, 'ci', 'logs/ci.log')).toBe(false);
    expect(said(on)).toEqual([
      "ci: The host command was refused: 'a' and 'ci' would both write /work/logs/ci.log. Give each an output of its own.",
    ]);
    expect(host(on, 'build', 'logs/build.log')).toBe(true);
    expect(batch(on, launch('b', '/work/logs/build.log'))).toEqual([]);
  });

  it('that is none, or is left to the agent, is the same as no other', () => {
    const on = conductor();
    expect(batch(on, launch('a', false), launch('b', true), launch('c', ' '))).toEqual(['a', 'b', 'c']);
  });

  it('is known by its name where nobody knows the folders', () => {
    const on = conductor(null);
    expect(batch(on, launch('a', 'x/y.md'), launch('b', 'x/./y.md'))).toEqual([]);
    expect(said(on)[0]).toContain("'a' and 'b' would both write x/y.md. Give");
    expect(batch(on, launch('c', 'x/y.md'))).toEqual(['c']);
    expect(host(on, 'ci', 'x/y.md')).toBe(true);
  });
});

describe('of a workflow that writes a file itself', () => {
  const folders = { children: '/run/outputs', hosts: '/work', aggregate: '/work/report.md' };

  it.each([
    ['omitted', { key: 'scan' }, '/work/report.md', '/work/report.scan.md'],
    ['omitted, a file without an extension', { key: 'scan' }, '/work/report', '/work/report.scan.md'],
    ['omitted, another extension', { key: 'a.b' }, '/work/all.tar.txt', '/work/all.tar.a.b.txt'],
    ['omitted, a hidden file', { key: 'a' }, '/work/.report', '/work/.report.a.md'],
    ['omitted, a key no path can have', { key: '../a b' }, '/work/report.md', '/work/report..._a_b.md'],
    ['omitted, a long key', { key: 'k'.repeat(128) }, '/work/report.md', `/work/report.${'k'.repeat(120)}.md`],
    ['omitted, a long name', { key: 'a' }, `/work/${'é'.repeat(125)}.md`, `/work/${'é'.repeat(125)}.a.md`],
    ['omitted, a name that is too long', { key: 'a' }, `/work/${'é'.repeat(126)}.md`, `/work/${'é'.repeat(125)}.a.md`],
    ['omitted, by a workflow without a file', { key: 'a' }, undefined, undefined],
    ['a name', { key: 'a', output: 'own.md' }, '/work/report.md', '/run/outputs/own.md'],
    ['a path', { key: 'a', output: '/else/own.md' }, '/work/report.md', '/else/own.md'],
    ['false', { key: 'a', output: false }, '/work/report.md', undefined],
    ['true', { key: 'a', output: true }, '/work/report.md', undefined],
  ])('a child writes as its output says: %s', (_, { key, ...params }, aggregate, path) => {
    expect(childOutput({ children: '/run/outputs', ...(aggregate ? { aggregate } : {}) }, key, params)).toBe(path);
  });

  it('a child that names the file beside it of another is refused with both keys', () => {
    const on = conductor(folders);
    expect(batch(on, launch('a'), launch('b', '/work/report.a.md'))).toEqual([]);
    expect(said(on)[0]).toContain("'a' and 'b' would both write /work/report.a.md");
    expect(batch(on, launch('a'), launch('c'))).toEqual(['a', 'c']);
  });

  it('two whose keys come to one name are refused with both keys', () => {
    const key = 'k'.repeat(121);
    const on = conductor(folders);
    expect(batch(on, launch(`${key}1`), launch(`${key}2`))).toEqual([]);
    expect(said(on)[0]).toContain(`'${key}1' and '${key}2' would both write /work/report.${'k'.repeat(120)}.md`);
  });

  it('one child may write the file itself, two may not', () => {
    const on = conductor(folders);
    expect(batch(on, launch('a', '/work/report.md'))).toEqual(['a']);
    expect(batch(on, launch('b', '/work/report.md'))).toEqual([]);
  });
});
