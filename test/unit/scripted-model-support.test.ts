import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createAgentDir } from '../support/agent-dir.ts';
import { isAlive } from '../support/process-state.ts';
import { splitLines } from '../support/split-lines.ts';
import { tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

describe('waitFor', () => {
  it('gives the first value that is there, and takes assertions as probes', async () => {
    let looks = 0;
    expect(await waitFor('a number', () => (looks++ < 3 ? undefined : 0))).toBe(0);
    expect(await waitFor('a promise', async () => (looks++ < 6 ? false : 'yes'))).toBe('yes');
    await waitFor('an assertion', () => {
      expect(looks++).toBeGreaterThan(9);
      return true;
    });
  });

  it('says what it waited for, what it saw and why the probe failed', async () => {
    const probe = () => {
      throw new Error('not a number');
    };
    const waiting = waitFor('the answer', probe, { timeoutMs: 40, seen: () => ({ lines: 3 }) });
    await expect(waiting).rejects.toThrow('waited 40 ms for the answer; seen: {"lines":3}; last error: not a number');
  });

  it('keeps its deadline with a probe that never ends', async () => {
    await expect(waitFor('nothing', () => new Promise(() => {}), { timeoutMs: 30 })).rejects.toThrow(
      /^waited 30 ms for nothing$/,
    );
  });

  it('stops at its signal with the reason of the signal', async () => {
    const signal = AbortSignal.abort(new Error('the child ended'));
    await expect(waitFor('a line', () => undefined, { signal })).rejects.toThrow('the child ended');
  });
});

describe('tempDir', () => {
  it('makes folders of their own and removes them with all in them', async () => {
    let path: string;
    {
      await using one = await tempDir();
      await using two = await tempDir({ name: 'awkward' });
      path = two.path;
      expect(one.path).toMatch(/^[\w./\\:~-]+$/);
      expect(basename(two.path)).toMatch(/ .*[^ -~]/);
      await writeFile(join(two.path, 'file'), 'x');
      expect(await exists(path)).toBe(true);
    }
    expect(await exists(path)).toBe(false);
  });
});

describe('createAgentDir', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('makes an environment from nothing', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'k-12345');
    vi.stubEnv('PI_CODING_AGENT_SESSION_DIR', '/elsewhere');
    await using agent = await createAgentDir({ modelUrl: 'http://127.0.0.1:9' });
    expect(JSON.stringify(agent.env)).not.toContain('k-12345');
    expect(agent.env).not.toHaveProperty('PI_CODING_AGENT_SESSION_DIR');
    expect(agent.env).toMatchObject({
      HOME: agent.home,
      PI_CODING_AGENT_DIR: agent.agentDir,
      PI_OFFLINE: '1',
      PI_SKIP_VERSION_CHECK: '1',
      PI_TELEMETRY: '0',
    });
    // A socket path has room for about 100 bytes.
    expect(join(agent.env['XDG_RUNTIME_DIR'] ?? '', 'pi-lanes', '0'.repeat(36)).length).toBeLessThan(100);
    const models = await readFile(join(agent.agentDir, 'models.json'), 'utf8');
    expect(models).toContain('http://127.0.0.1:9/v1');
  });

  it('lays settings over the defaults and can leave out the models', async () => {
    const options = { modelUrl: 'http://127.0.0.1:9', settings: { quietStartup: false, theme: 'x' } };
    await using agent = await createAgentDir({ ...options, models: 'none' });
    const settings: unknown = JSON.parse(await readFile(join(agent.agentDir, 'settings.json'), 'utf8'));
    expect(settings).toMatchObject({ quietStartup: false, theme: 'x', enableInstallTelemetry: false });
    expect(settings).not.toHaveProperty('defaultModel');
    expect(await readdir(agent.agentDir)).toEqual(['settings.json']);
  });

  it('cleans up what it made in a given folder, and nothing else there', async () => {
    await using folder = await tempDir({ name: 'awkward' });
    await writeFile(join(folder.path, 'mine'), '');
    const agent = await createAgentDir({ modelUrl: 'http://127.0.0.1:9', dir: folder.path });
    expect((await readdir(folder.path)).sort()).toEqual(['agent', 'home', 'mine']);
    await agent.cleanup();
    await agent.cleanup();
    expect(await readdir(folder.path)).toEqual(['mine']);
    expect(await exists(agent.env['XDG_RUNTIME_DIR'] ?? '')).toBe(false);
  });
});

describe('isAlive', () => {
  it('tells a running process from one that ended', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const pid = child.pid ?? 0;
    expect(isAlive(pid)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isAlive(pid)).toBe(false);
  });
});

describe('splitLines', () => {
  it('gives the same lines however the bytes are cut', () => {
    const line = fc.string({ unit: fc.constantFrom('a', '"', 'é', '漢', '🦊', '\u2028', '\u2029', '\u0085', '\t') });
    fc.assert(
      fc.property(fc.array(line), line, fc.array(fc.nat(), { maxLength: 20 }), (lines, rest, cuts) => {
        const bytes = Buffer.from(lines.map((one, index) => one + (index % 2 ? '\r\n' : '\n')).join('') + rest);
        const seen: string[] = [];
        const push = splitLines((one) => seen.push(one));
        const borders = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        for (let index = 1; index < borders.length; index += 1)
          push(bytes.subarray(borders[index - 1], borders[index]));
        expect(seen).toEqual(lines);
      }),
    );
  });
});
