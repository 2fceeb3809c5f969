/** Which tools Pi and the extensions it finds have. Asking costs one start of Pi with all of them, so the answer is remembered. */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { LanesError, lanesError, wordsOf } from '../../protocol/index.ts';
import { fileStamp, type ProbeCache } from '../toolchain/index.ts';

export const KNOWN_TOOL = z.object({
  name: z.string(),
  /** File of the extension that brings it; absent: Pi's own. */
  extension: z.optional(z.string()),
});
export type KnownTool = z.infer<typeof KNOWN_TOOL>;

const remembered = z.object({ at: z.number(), tools: z.array(KNOWN_TOOL) });

/** Milliseconds an answer is believed while nothing it depends on has changed: extensions load files nobody here knows of. */
const BELIEVE_MS = 10 * 60 * 1000;

export interface ToolRegistryOptions {
  cache: ProbeCache;
  agentDir: string;
  /** Real path of Pi's script or binary. */
  piFile: string;
  /** Root of a project that is trusted; `undefined`: none takes part. */
  project: string | undefined;
  probe: () => Promise<KnownTool[]>;
}

export class ToolRegistry {
  readonly #options: ToolRegistryOptions;

  constructor(options: ToolRegistryOptions) {
    this.#options = options;
  }

  async #key(): Promise<string> {
    const { agentDir, piFile, project } = this.#options;
    const folders = [agentDir, ...(project === undefined ? [] : [join(project, '.pi')])];
    const files = folders.flatMap((folder) => [join(folder, 'settings.json'), join(folder, 'extensions')]);
    return JSON.stringify([agentDir, project, await Promise.all([piFile, ...files].map(fileStamp))]);
  }

  /** What was last heard and is still believed; starts nothing. */
  async remembered(): Promise<KnownTool[] | undefined> {
    const known = await this.#options.cache.get('tools', await this.#key(), remembered);
    return known && Math.abs(Date.now() - known.at) < BELIEVE_MS ? known.tools : undefined;
  }

  /** @throws LanesError `pi_failed` when Pi does not answer */
  async usable(): Promise<KnownTool[]> {
    const known = await this.remembered();
    if (known) return known;
    let tools: KnownTool[];
    try {
      tools = await this.#options.probe();
    } catch (error) {
      if (error instanceof LanesError) throw error;
      throw lanesError('pi_failed:unasked', { reason: wordsOf(error) });
    }
    // Pi creates files of its own at its first start: the key is taken again after it.
    await this.#options.cache.set('tools', await this.#key(), { at: Date.now(), tools });
    return tools;
  }
}
