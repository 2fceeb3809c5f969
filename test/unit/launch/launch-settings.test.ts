/** What settings say about launches that call and agent leave open. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkToolRules } from '../../../src/core/launch/index.ts';
import { readLaunchSettings } from '../../../src/core/settings/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir();
});
afterEach(() => folder.remove());

const read = async (config?: unknown, env: NodeJS.ProcessEnv = {}) => {
  const file = join(folder.path, 'config.json');
  if (config !== undefined) await writeFile(file, JSON.stringify(config));
  return readLaunchSettings(file, env);
};

describe('settings of launches', () => {
  it('are none where nothing is said, but how long a child waits for its runs', async () => {
    expect(await read()).toEqual({
      defaults: { wait: { enabled: true, defaultTimeoutMs: 1_800_000 } },
      toolRules: {},
    });
  });

  it('come from the file, else from the environment', async () => {
    const env = {
      PI_SUBAGENT_TOOL_TIMEOUT_MS: '5000',
      PI_SUBAGENT_WAIT_TOOL_ENABLED: 'false',
      PI_SUBAGENT_WAIT_TOOL_DEFAULT_TIMEOUT_MS: '7000',
    };
    expect((await read({}, env)).defaults).toEqual({
      toolTimeoutMs: 5000,
      wait: { enabled: false, defaultTimeoutMs: 7000 },
    });
    const config = {
      timeoutMs: 1,
      toolTimeoutMs: 2,
      toolBudget: { hard: 3 },
      defaultSubagentContext: 'fork',
      waitTool: { enabled: true, defaultTimeoutMs: 4 },
      permissions: { rules: { edit: 'deny' } },
    };
    expect(await read(config, env)).toEqual({
      defaults: {
        timeoutMs: 1,
        toolTimeoutMs: 2,
        toolBudget: { hard: 3 },
        context: 'fork',
        wait: { enabled: true, defaultTimeoutMs: 4 },
      },
      toolRules: { edit: 'deny' },
    });
    expect((await read({ waitTool: false })).defaults.wait?.enabled).toBe(false);
  });

  it.each([
    [{ timeoutMs: 0 }, {}, 'timeoutMs'],
    [{ toolTimeoutMs: 2_147_483_648 }, {}, 'toolTimeoutMs'],
    [{ toolBudget: { soft: 3, hard: 2 } }, {}, 'toolBudget'],
    [{ waitTool: { timeout: 3 } }, {}, 'waitTool'],
    [{ permissions: { rules: { edit: 'maybe' } } }, {}, 'permissions.rules.edit'],
    [undefined, { PI_SUBAGENT_TOOL_TIMEOUT_MS: '5s' }, 'PI_SUBAGENT_TOOL_TIMEOUT_MS'],
    [undefined, { PI_SUBAGENT_WAIT_TOOL_ENABLED: 'yes' }, 'PI_SUBAGENT_WAIT_TOOL_ENABLED'],
  ])('are refused when they are wrong: %j %j', async (config, env, why) => {
    await expect(read(config, env)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(why),
    });
  });

  it('agent-50 have no rule for tools with rules of their own', () => {
    expect(() => checkToolRules({ edit: 'ask' }, '/config.json')).not.toThrow();
    for (const tool of ['bash', 'structured_output', 'contact_supervisor'])
      expect(() => checkToolRules({ [tool]: 'deny' }, '/config.json')).toThrow(
        expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(tool) }),
      );
  });
});
