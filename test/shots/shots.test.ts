/**
 * Pictures of every state in every theme, to be looked at by a person: `npm run shots`, or `npm run shots -- runs empty` for
 * some of them. A state that cannot be brought about any more fails.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageExtension } from '../../scripts/package.mjs';
import { THEMES, type Theme } from '../e2e/workbench.ts';
import { openScene, SCENES, type SceneName } from './scenes.ts';
import { STATES } from './states.ts';

/** Themes by the part of the file name that they are known by. */
const FILE_NAMES: Record<Theme, string> = {
  'Dark Modern': 'default-dark-modern',
  'Light Modern': 'default-light-modern',
  'Dark High Contrast': 'high-contrast-dark',
  'Light High Contrast': 'high-contrast-light',
};
const wanted = (process.env['PI_LANES_SHOT_STATES'] ?? '').split(' ').filter(Boolean);
const states = STATES.filter(({ name }) => wanted.length === 0 || wanted.includes(name));

let vsix: string;
let stack: AsyncDisposableStack;
beforeAll(async () => {
  vsix = await packageExtension();
});
afterAll(() => stack?.disposeAsync());

test('the states that are asked for exist', () => {
  const names = STATES.map(({ name }) => name);
  for (const name of wanted) expect(names).toContain(name);
});

for (const scene of Object.keys(SCENES) as SceneName[]) {
  const here = states.filter((state) => state.scene === scene);
  test.runIf(here.length > 0)(`${scene}: ${here.map(({ name }) => name).join(', ')}`, async () => {
    await stack?.disposeAsync();
    stack = new AsyncDisposableStack();
    const stage = await openScene(scene, vsix, stack);
    for (const theme of Object.keys(THEMES) as Theme[]) {
      await stage.workbench.setTheme(theme);
      for (const state of here) {
        await state.show?.(stage);
        // Away from everything that shows something when the mouse is over it.
        await stage.workbench.page.mouse.move(800, 799);
        await stage.workbench.screenshot(`${state.name}-${FILE_NAMES[theme]}`);
        await state.hide?.(stage);
      }
    }
  });
}
