import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Toolbox } from '../../src/client/toolbox.ts';
import { agentDirectory } from '../../src/core/projects/index.ts';
import { configuredNode, configuredPi, configuredRetentionDays } from '../../src/core/settings/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

let folder: TempDir;
let path: string;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  path = join(folder.path, 'config.json');
});

afterEach(() => folder.remove());

describe('settings', () => {
  it('are none without a file', async () => {
    expect(await configuredPi(path, {})).toEqual({ path: undefined, source: `pi.path in ${path}` });
    expect(await configuredNode(path, {})).toEqual({ path: undefined, source: `node.path in ${path}` });
    expect(await configuredRetentionDays(path)).toBeUndefined();
  });

  it('come from the file, and from the environment before it', async () => {
    await writeFile(path, JSON.stringify({ pi: { path: '/pi', future: 1 }, node: { path: '/node' }, other: true }));
    expect(await configuredPi(path, {})).toEqual({ path: '/pi', source: `pi.path in ${path}` });
    expect(await configuredNode(path, { PI_LANES_NODE: '' })).toEqual({
      path: '/node',
      source: `node.path in ${path}`,
    });
    expect(await configuredPi(path, { PI_LANES_PI: '/my/pi' })).toEqual({
      path: '/my/pi',
      source: 'variable PI_LANES_PI',
    });
    expect(await configuredNode(path, { PI_LANES_NODE: '/my/node' })).toEqual({
      path: '/my/node',
      source: 'variable PI_LANES_NODE',
    });
    await writeFile(path, JSON.stringify({ pi: { path: '' } }));
    expect((await configuredPi(path, {})).path).toBeUndefined();
  });

  it('that are wrong stop nothing but what they are for', async () => {
    await writeFile(path, JSON.stringify({ retention: { days: 'soon' }, node: { path: 7 }, pi: { path: '/pi' } }));
    expect((await configuredPi(path, {})).path).toBe('/pi');
    const wrong = (field: string) => ({ code: 'config_invalid', message: expect.stringContaining(`${field}: `) });
    await expect(configuredNode(path, {})).rejects.toMatchObject(wrong('node.path'));
    await expect(configuredRetentionDays(path)).rejects.toMatchObject(wrong('retention.days'));
    // Nobody asks the file for what is known otherwise.
    await writeFile(path, '{');
    expect((await configuredNode(path, { PI_LANES_NODE: '/my/node' })).path).toBe('/my/node');
  });

  it('say whether runners get scopes of systemd, only where somebody does', async () => {
    const options = {
      env: { PI_CODING_AGENT_DIR: folder.path },
      distDirectory: '',
      client: { kind: 'x', version: '0' },
    };
    const { root } = new Toolbox(options);
    await mkdir(root.root, { recursive: true });
    const scope = (own?: boolean) =>
      new Toolbox({ ...options, overrides: () => (own === undefined ? {} : { systemdScope: own }) }).systemdScope();
    expect([await scope(), await scope(true)]).toEqual([false, true]);
    await writeFile(root.config, '{"runner":{"systemdScope":true}}');
    expect([await scope(), await scope(false)]).toEqual([true, false]);
    await writeFile(root.config, '{"runner":{"systemdScope":"yes"}}');
    await expect(scope()).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('runner.systemdScope'),
    });
  });

  it('come from the client before all others', async () => {
    const env = { PI_CODING_AGENT_DIR: folder.path, PI_LANES_NODE: '/env/node', PI_LANES_PI: '/env/pi' };
    const options = { env, distDirectory: '', client: { kind: 'test', version: '0' } };
    const toolbox = new Toolbox({ ...options, overrides: () => ({ piPath: '/own/pi' }) });
    expect(await toolbox.piPath()).toEqual({ path: '/own/pi', source: 'setting piLanes.pi.path' });
    expect(await toolbox.nodePath()).toEqual({ path: '/env/node', source: 'variable PI_LANES_NODE' });
    const other = new Toolbox({ ...options, overrides: () => ({ nodePath: '/own/node' }) });
    expect(await other.piPath()).toMatchObject({ path: '/env/pi' });
    expect(await other.nodePath()).toEqual({ path: '/own/node', source: 'setting piLanes.node.path' });
  });

  describe('of how long runs are kept', () => {
    const days = (content: object | undefined, own?: unknown) => {
      const options = {
        env: { PI_CODING_AGENT_DIR: folder.path },
        distDirectory: '',
        client: { kind: 't', version: '0' },
      };
      const toolbox = new Toolbox({ ...options, overrides: () => ({ retentionDays: own }) });
      const write = async () => {
        await mkdir(join(folder.path, 'pi-lanes'), { recursive: true });
        if (content) await writeFile(toolbox.root.config, JSON.stringify(content));
        return toolbox.retentionDays();
      };
      return write();
    };

    it('are 30 days, those of the shared file, or those of the client before all others', async () => {
      expect(await days(undefined)).toBe(30);
      expect(await days({})).toBe(30);
      expect(await days({ retention: {} })).toBe(30);
      expect(await days({ retention: { days: 7 } })).toBe(7);
      expect(await days({ retention: { days: 0 } })).toBe(0);
      expect(await days({ retention: { days: 7 } }, 0)).toBe(0);
      expect(await days({ retention: { days: 7 } }, 36_500)).toBe(36_500);
    });

    it.each([-1, 1.5, 36_501, '30', '', null, Number.NaN, [], {}, true])(
      'are never guessed: %j is refused, wherever it stands',
      async (value) => {
        await expect(days(undefined, value)).rejects.toMatchObject({
          code: 'config_invalid',
          message: expect.stringContaining(
            `The setting piLanes.retention.days is ${JSON.stringify(value)}; it must be a whole number of days from 0 to 36500.`,
          ),
          hint: expect.any(String),
        });
        await expect(days({ retention: { days: value } })).rejects.toMatchObject({
          code: 'config_invalid',
          message: expect.stringMatching(/config\.json: retention\.days: /),
        });
      },
    );

    it('of the client do not stop anything else when they are wrong', async () => {
      const options = {
        env: { PI_CODING_AGENT_DIR: folder.path },
        distDirectory: '',
        client: { kind: 't', version: '0' },
      };
      const toolbox = new Toolbox({ ...options, overrides: () => ({ retentionDays: 'x', piPath: '/own/pi' }) });
      expect((await toolbox.piPath()).path).toBe('/own/pi');
    });
  });

  it.each<[string, string, RegExp]>([
    ['no JSON', '{"pi":', /config\.json is not JSON: /],
    ['another shape', '{"pi":{"path":7}}', /config\.json: pi\.path: .*string/],
    ['a list', '[]', /config\.json: the value: .*object/],
  ])('with %s are refused, naming file and field', async (_, content, message) => {
    await writeFile(path, content);
    await expect(configuredPi(path, {})).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(message),
    });
  });

  it('are refused when the file cannot be read', async () => {
    await mkdir(path);
    await expect(configuredPi(path, {})).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('is a folder'),
    });
  });
});

describe("Pi's agent folder", () => {
  it('is the configured one as Pi reads it, else the one in the home folder', () => {
    expect(agentDirectory({}, '/home/me')).toBe(join('/home/me', '.pi', 'agent'));
    expect(agentDirectory({ PI_CODING_AGENT_DIR: '' }, '/home/me')).toBe(join('/home/me', '.pi', 'agent'));
    expect(agentDirectory({ PI_CODING_AGENT_DIR: folder.path }, '/home/me')).toBe(folder.path);
    expect(agentDirectory({ PI_CODING_AGENT_DIR: '~/x' }, folder.path)).toBe(join(folder.path, 'x'));
    expect(agentDirectory({ PI_CODING_AGENT_DIR: '~' }, folder.path)).toBe(folder.path);
    expect(agentDirectory({ PI_CODING_AGENT_DIR: '~me' }, folder.path)).toBe(join(process.cwd(), '~me'));
  });
});
