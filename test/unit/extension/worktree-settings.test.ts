/** What VS Code settings say about worktrees and writers: only what somebody has set, and no mistake taken for a wish. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { windowSettings } from '../../../src/extension/configuration.ts';
import { toErrorValue } from '../../../src/protocol/index.ts';
import * as editor from './vscode-stand-in.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

beforeEach(() => editor.workspace.settings.clear());

const set = (key: string, value: unknown) => editor.workspace.settings.set(`piLanes.${key}`, value);

/** The error that reading something ends with. */
function refused(read: () => unknown) {
  try {
    read();
  } catch (error) {
    return toErrorValue(error);
  }
  return undefined;
}

describe('settings of worktrees', () => {
  it('leave everything to the shared file while nobody has set them', () => {
    set('worktrees.folder', '  ');
    expect(windowSettings().worktrees).toEqual({});
    expect(windowSettings().writers).toBeUndefined();
  });

  it('are those that were set, the time of the hook in milliseconds', () => {
    set('worktrees.folder', '~/trees');
    set('worktrees.copies', ['.env']);
    set('worktrees.links', []);
    set('worktrees.setupHook', './setup.sh');
    set('worktrees.setupHookTimeoutSeconds', 90);
    set('writers', 'refuse');
    expect(windowSettings().worktrees).toEqual({
      folder: '~/trees',
      copies: ['.env'],
      links: [],
      setupHook: './setup.sh',
      setupHookTimeoutMs: 90_000,
    });
    expect(windowSettings().writers).toBe('refuse');
  });

  it.each([
    ['worktrees.copies', '.env', 'config_invalid', /Worktrees\): copies/],
    ['worktrees.setupHook', 7, 'config_invalid', /Worktrees\): setupHook/],
    ['worktrees.setupHookTimeoutSeconds', 0, 'launch_invalid', /piLanes\.worktrees\.setupHookTimeoutSeconds/],
  ])('that are wrong are refused by name: %s = %j, and stop nothing else', (key, value, code, message) => {
    set(key, value);
    const settings = windowSettings();
    expect(settings.writers).toBeUndefined();
    expect(refused(() => settings.worktrees)).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('refuse a word about writers that nobody knows', () => {
    set('writers', 'sometimes');
    const settings = windowSettings();
    expect(settings.worktrees).toEqual({});
    expect(refused(() => settings.writers)).toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(/^piLanes\.writers: /),
    });
  });
});
