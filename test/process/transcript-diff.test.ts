/** What a real edit of a real Pi looks like in its two transcripts. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planLaunch, RunStore, startRun, waitForEnd } from '../../src/client/index.ts';
import { childLayout } from '../../src/core/projects/index.ts';
import { TranscriptSource } from '../../src/core/transcripts/index.ts';
import type { PanelItem, SourceFile } from '../../src/protocol/index.ts';
import { createWorld } from '../support/world.ts';

describe('an edit', () => {
  it('is shown with what it changed, the same from the mirror and from the session file', async () => {
    await using world = await createWorld();
    await writeFile(join(world.project, 'plan.txt'), 'one\ntwo\nthree\n');
    const args = { path: 'plan.txt', edits: [{ oldText: 'two', newText: 'zwei' }] };
    const steps = JSON.stringify([
      { thinking: 'hm', text: 'I edit.', calls: [{ tool: 'edit', args }] },
      { text: 'Done.' },
    ]);
    const plan = await planLaunch(world.toolbox, {
      agent: 'worker',
      task: `SCRIPT:steps ${steps}`,
      cwd: world.project,
      owner: { kind: 'cli', id: 'test' },
      trust: 'no-approve',
    });
    const { runId, directory, project } = await startRun(world.toolbox, plan);
    const { state, view } = await waitForEnd(new RunStore(project), runId);
    expect(state).toBe('complete');
    const itemsOf = async (file: SourceFile): Promise<PanelItem[]> =>
      (await new TranscriptSource(file, { live: false, steering: [] }).snapshot()).window.items;
    const mirror = await itemsOf({ kind: 'mirror', path: childLayout(directory, 1).transcript });
    const session = await itemsOf({ kind: 'session', path: view?.children[0]?.session?.file ?? '' });

    const lines = [
      { kind: 'context', text: 'one' },
      { kind: 'removed', text: 'two' },
      { kind: 'added', text: 'zwei' },
      { kind: 'context', text: 'three' },
    ];
    const kinds = ['user', 'thinking', 'text', 'tool', 'turn', 'text', 'turn'];
    for (const items of [mirror, session]) {
      const said = items.filter(({ kind }) => kind !== 'note');
      expect(said.map(({ kind }) => kind)).toEqual(kinds);
      expect(said[0]).toMatchObject({ origin: 'task' });
      const tool = said.find((item) => item.kind === 'tool');
      expect(tool).toMatchObject({
        name: 'edit',
        state: 'done',
        file: { path: 'plan.txt', line: 2 },
        diff: { cut: false },
      });
      expect(tool?.kind === 'tool' && tool.diff?.lines.filter(({ text }) => text !== '')).toEqual(lines);
    }
  });
});
