/** Which models this Pi can use now. Asking costs one start of Pi (0.3 s), so the answer is remembered. */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { LanesError, lanesError, wordsOf } from '../../protocol/index.ts';
import { fileStamp, type ProbeCache } from '../toolchain/index.ts';
import { findModel, type KnownModel, knownModel, modelUnknown } from './known-models.ts';
import { THINKING_LEVELS } from './thinking-level.ts';

const remembered = z.object({
  at: z.number(),
  models: z.array(knownModel),
  /** What Pi takes when nobody names one. */
  defaultModel: z.nullable(z.string()),
  defaultThinking: z.nullable(z.enum(THINKING_LEVELS)),
});
export type UsableModels = z.infer<typeof remembered>;

/** Milliseconds an answer is believed while nothing it depends on has changed. */
const BELIEVE_MS = 60 * 60 * 1000;
/** A name that is missing from an answer older than this is looked up afresh before it is refused. */
const DOUBT_MS = 2000;

/** Variables that make a provider usable. Only which of them are set is looked at, never their values. */
const CREDENTIALS =
  /(_API_KEY|_AUTH_TOKEN|_OAUTH_TOKEN|^AWS_|^GOOGLE_|^AZURE_|^GH_TOKEN|^GITHUB_TOKEN|^HF_TOKEN|^COPILOT_)/;

export interface ModelRegistryOptions {
  cache: ProbeCache;
  agentDir: string;
  env: NodeJS.ProcessEnv;
  /** Real path of Pi's script or binary. */
  piFile: string;
  probe: () => Promise<Omit<UsableModels, 'at'>>;
}

export class ModelRegistry {
  readonly #options: ModelRegistryOptions;

  constructor(options: ModelRegistryOptions) {
    this.#options = options;
  }

  async #key(): Promise<string> {
    const { agentDir, env, piFile } = this.#options;
    const files = ['auth.json', 'models.json', 'settings.json'].map((name) => join(agentDir, name));
    const stamps = await Promise.all([piFile, ...files].map(fileStamp));
    const credentials = Object.keys(env).filter((name) => env[name] && CREDENTIALS.test(name));
    return JSON.stringify([agentDir, stamps, credentials.sort()]);
  }

  /** @param youngerThanMs an older answer is asked again */
  async usable(youngerThanMs: number = BELIEVE_MS): Promise<UsableModels> {
    const { cache, probe } = this.#options;
    const known = await cache.get('models', await this.#key(), remembered);
    if (known && Math.abs(Date.now() - known.at) < youngerThanMs) return known;
    let answer: Awaited<ReturnType<typeof probe>>;
    try {
      answer = await probe();
    } catch (error) {
      if (error instanceof LanesError) throw error;
      throw lanesError('pi_failed:unasked', { reason: wordsOf(error) });
    }
    const fresh = { at: Date.now(), ...answer };
    // Pi creates files of its own at its first start: the key is taken again after it.
    await cache.set('models', await this.#key(), fresh);
    return fresh;
  }

  /** The model a person named, checked against what is usable now. `undefined` asks only whether there is any. */
  async resolve(wanted: string | undefined): Promise<KnownModel | undefined> {
    return this.decide(({ models }) => {
      if (models.length === 0) throw modelUnknown(wanted ?? '', models);
      return wanted === undefined ? undefined : findModel(wanted, models);
    });
  }

  /** What `decide` makes of the usable models. They are asked for afresh before it may refuse for an answer that is old. */
  async decide<T>(decide: (usable: UsableModels) => T): Promise<T> {
    const usable = await this.usable();
    try {
      return decide(usable);
    } catch (error) {
      if (Math.abs(Date.now() - usable.at) < DOUBT_MS) throw error;
    }
    return decide(await this.usable(DOUBT_MS));
  }
}
