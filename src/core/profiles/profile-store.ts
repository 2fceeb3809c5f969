/** Where profiles and catalogues are kept: files that other tools of Pi's users know. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lanesError } from '../../protocol/index.ts';
import { errnoOf, makePrivateFolder, writeFileAtomic } from '../files/index.ts';
import { readJsonFile } from '../json-files/index.ts';
import { type ModelCatalogue, modelCatalogue } from './catalogue.ts';
import { type Profile, profile } from './profile.ts';

/** Names of files: never a path, never hidden. */
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const CATALOGUE = '.models.json';

export class ProfileStore {
  readonly #folder: string;
  /** Pi's settings of the user, which a profile is loaded into; absolute. */
  readonly settings: string;

  constructor(agentDir: string) {
    this.#folder = join(agentDir, 'profiles', 'pi-subagents');
    this.settings = join(agentDir, 'settings.json');
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
    const value = await readJsonFile(file, profile);
    if (value !== undefined) return value;
    throw lanesError('file_not_found:profile', { name, known: (await this.names()).join(', ') || '-' });
  }

  async write(name: string, value: Profile): Promise<string> {
    const file = this.fileOf(name);
    await makePrivateFolder(this.#folder);
    await writeFileAtomic(file, `${JSON.stringify(value, undefined, 2)}\n`);
    return file;
  }

  /** Those that can be read: they are made anew by asking. */
  async catalogues(): Promise<ModelCatalogue[]> {
    const folder = join(this.#folder, 'providers');
    const files = (await namesIn(folder)).filter((file) => file.endsWith(CATALOGUE)).sort();
    const read = await Promise.all(
      files.map((file) => readJsonFile(join(folder, file), modelCatalogue).catch(() => undefined)),
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
