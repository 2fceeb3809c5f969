/** Where profiles and catalogues are kept: files that other tools of Pi's users know. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type * as z from 'zod/mini';
import { describeFaults, lanesError, wordsOf } from '../../protocol/index.ts';
import { errnoOf, makePrivateFolder, readRegular, writeFileAtomic } from '../files/index.ts';
import { type ModelCatalogue, modelCatalogue } from './catalogue.ts';
import { type Profile, profile } from './profile.ts';

/** Names of files: never a path, never hidden. */
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const CATALOGUE = '.models.json';

export class ProfileStore {
  readonly #folder: string;
  readonly #settings: string;

  constructor(agentDir: string) {
    this.#folder = join(agentDir, 'profiles', 'pi-subagents');
    this.#settings = join(agentDir, 'settings.json');
  }

  /** Absolute. @throws LanesError for a name that is none */
  fileOf(name: string): string {
    if (!SAFE_NAME.test(name)) throw lanesError('launch_invalid:profile-name', { name });
    return join(this.#folder, `${name}.json`);
  }

  async names(): Promise<string[]> {
    const files = await namesIn(this.#folder);
    return files.flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -5)] : [])).sort();
  }

  /** @throws LanesError `file_not_found`, or `config_invalid` naming the file */
  async read(name: string): Promise<Profile> {
    const file = this.fileOf(name);
    const value = await readJson(file, profile);
    if (value !== undefined) return value;
    throw lanesError('file_not_found:profile', { name, known: (await this.names()).join(', ') || '-' });
  }

  async write(name: string, value: Profile): Promise<string> {
    const file = this.fileOf(name);
    await makePrivateFolder(this.#folder);
    await writeFileAtomic(file, `${JSON.stringify(value, undefined, 2)}\n`);
    return file;
  }

  /** Puts its overrides into Pi's settings of the user, in the place of those there; nothing else there changes. */
  async load(name: string): Promise<string> {
    const { agentOverrides } = await this.read(name);
    let settings: unknown = {};
    try {
      settings = JSON.parse((await readRegular(this.#settings)).replace(/^\uFEFF/, ''));
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT')
        throw lanesError('config_invalid:unreadable', { file: this.#settings, reason: wordsOf(error) });
    }
    if (!isObject(settings) || (settings['subagents'] !== undefined && !isObject(settings['subagents'])))
      throw lanesError('config_invalid:field', { file: this.#settings, faults: 'subagents: must be an object' });
    const subagents = { ...(isObject(settings['subagents']) ? settings['subagents'] : {}), agentOverrides };
    await writeFileAtomic(this.#settings, `${JSON.stringify({ ...settings, subagents }, undefined, 2)}\n`);
    return this.#settings;
  }

  /** Those that can be read: they are made anew by asking. */
  async catalogues(): Promise<ModelCatalogue[]> {
    const folder = join(this.#folder, 'providers');
    const files = (await namesIn(folder)).filter((file) => file.endsWith(CATALOGUE)).sort();
    const read = await Promise.all(
      files.map((file) => readJson(join(folder, file), modelCatalogue).catch(() => undefined)),
    );
    return read.filter((one) => one !== undefined);
  }

  async writeCatalogue(catalogue: ModelCatalogue): Promise<void> {
    const folder = join(this.#folder, 'providers');
    await makePrivateFolder(folder);
    const name = catalogue.provider.replace(/[^A-Za-z0-9._-]+/g, '_');
    await writeFileAtomic(join(folder, `${name}${CATALOGUE}`), `${JSON.stringify(catalogue, undefined, 2)}\n`);
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return [];
    throw error;
  });
}

async function readJson<T>(file: string, schema: z.ZodMiniType<T>): Promise<T | undefined> {
  let text: string;
  try {
    text = (await readRegular(file)).replace(/^\uFEFF/, '');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw lanesError('config_invalid:unreadable', { file, reason: wordsOf(error) });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw lanesError('config_invalid:json', { file, reason: wordsOf(error) });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw lanesError('config_invalid:field', { file, faults: describeFaults(parsed.error) });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
