import { mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { type TempDir, tempDir } from './temp.ts';

export interface AgentDirOptions {
  /** URL of the scripted model, without `/v1`. */
  modelUrl: string;
  /** Where `agent/` and `home/` are made. Absent: a temp folder of its own. */
  dir?: string;
  /** Laid over the default settings, key by key at the top level. */
  settings?: Readonly<Record<string, unknown>>;
  /**
   * `scripted` (default): `fake/scripted` and `fake/scripted-b`. `none`: no usable model at all. Or the whole content
   * of `models.json`.
   */
  models?: 'scripted' | 'none' | Readonly<Record<string, unknown>>;
}

export interface AgentDir extends AsyncDisposable {
  /** The value of `PI_CODING_AGENT_DIR`: `settings.json`, `models.json`, `sessions/` are here. */
  readonly agentDir: string;
  readonly home: string;
  /** The whole environment for a child: nothing but this should be passed on. */
  readonly env: Readonly<Record<string, string>>;
  /** Removes what this call created, the folder given as `dir` itself excepted. Safe to call twice. */
  cleanup(): Promise<void>;
}

/**
 * Makes an agent directory that knows only the scripted model, and an environment in which a real Pi sees nothing of the
 * person who runs the tests: own HOME, own agent directory, no network, no provider keys.
 *
 * `fake/scripted` reasons and costs 1 and 2 dollars per million input and output tokens; the scripted model's usual
 * usage of 100 and 10 tokens is 0.00012 dollars. Retries wait 50 ms instead of Pi's 2 s, and the provider client does
 * none of its own (0.73 would do two unseen ones per attempt). Both models send the session id, so that requests in the
 * model's log can be told apart.
 */
export async function createAgentDir(options: AgentDirOptions): Promise<AgentDir> {
  const { modelUrl, models = 'scripted' } = options;
  const own = options.dir === undefined ? await tempDir() : undefined;
  const dir = options.dir ?? own?.path ?? '';
  // Sockets are made in here, and a socket path holds about 100 bytes: never below `dir`, which may be long.
  const runtime = await tempDir();
  const agentDir = join(dir, 'agent');
  const home = join(dir, 'home');
  await Promise.all([agentDir, home].map((path) => mkdir(path, { recursive: true })));
  if (models !== 'none') {
    await writeJson(join(agentDir, 'models.json'), models === 'scripted' ? scriptedModels(modelUrl) : models);
  }
  await writeJson(join(agentDir, 'settings.json'), {
    ...(models === 'none' ? {} : { defaultProvider: 'fake', defaultModel: 'scripted' }),
    quietStartup: true,
    enableInstallTelemetry: false,
    retry: { enabled: true, maxRetries: 3, baseDelayMs: 50, provider: { maxRetries: 0 } },
    ...options.settings,
  });
  const cleanup = async () => {
    await runtime.remove();
    if (own) await own.remove();
    else await Promise.all([agentDir, home].map((path) => rm(path, { recursive: true, force: true, maxRetries: 10 })));
  };
  return { agentDir, home, env: closedEnvironment(agentDir, home, runtime), cleanup, [Symbol.asyncDispose]: cleanup };
}

function scriptedModels(modelUrl: string): object {
  const compat = { sendSessionAffinityHeaders: true };
  const base = { input: ['text'], compat };
  return {
    providers: {
      fake: {
        baseUrl: `${modelUrl}/v1`,
        api: 'openai-completions',
        // Without a key Pi lists the model but does not offer it.
        apiKey: 'not-a-secret',
        models: [
          {
            ...base,
            id: 'scripted',
            name: 'Scripted',
            reasoning: true,
            contextWindow: 128_000,
            maxTokens: 4_096,
            cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
          },
          {
            ...base,
            id: 'scripted-b',
            name: 'Scripted B',
            reasoning: false,
            contextWindow: 32_000,
            maxTokens: 2_048,
            cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
          },
        ],
      },
    },
  };
}

/** Built from nothing, so that a provider key in the caller's environment can never reach a child. */
function closedEnvironment(agentDir: string, home: string, runtime: TempDir): Record<string, string> {
  const windows = process.platform === 'win32';
  return {
    // The Node that runs the tests comes first: `pi` found on PATH must not run on an older one.
    PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    HOME: home,
    PI_CODING_AGENT_DIR: agentDir,
    PI_OFFLINE: '1',
    PI_SKIP_VERSION_CHECK: '1',
    PI_TELEMETRY: '0',
    XDG_RUNTIME_DIR: runtime.path,
    LANG: 'C.UTF-8',
    ...(windows ? windowsBasics(home) : {}),
  };
}

/** Windows programs do not start without these. */
function windowsBasics(home: string): Record<string, string> {
  const kept: Record<string, string> = { USERPROFILE: home };
  for (const name of ['SystemRoot', 'ComSpec', 'PATHEXT', 'TEMP', 'TMP']) {
    const value = process.env[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

function writeJson(path: string, value: object): Promise<void> {
  return writeFile(path, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
}
