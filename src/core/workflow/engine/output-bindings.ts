/** Which output file belongs to which key, by the paths as scripts name them. Pure; links are looked through where files are made. */
import { resolve } from 'node:path';
import { childOutput, type OutputFolders } from '../output-paths.ts';

export interface Binding {
  key: string;
  /** Absolute. */
  path: string;
}

/** Where nobody says where files lie, the same name in the same mouth is the same file. */
const SOMEWHERE: OutputFolders = { children: '/:children:', hosts: '/:hosts:' };

export class OutputBindings {
  readonly #folders: OutputFolders;
  readonly #owners = new Map<string, string>();

  constructor(folders: OutputFolders = SOMEWHERE) {
    this.#folders = folders;
  }

  /** The files that these would write; those without an output are left out. */
  bindings(
    kind: keyof OutputFolders,
    wanted: readonly { key: string; params: Readonly<Record<string, unknown>> }[],
  ): Binding[] {
    return wanted.flatMap(({ key, params }) => {
      const path =
        kind === 'children'
          ? childOutput(this.#folders, key, params)
          : hostOutput(this.#folders.hosts, params['output']);
      return path === undefined ? [] : [{ key, path }];
    });
  }

  /** Why these cannot be bound together with what is bound already, with both keys and the path; nothing: they can. */
  collision(wanted: readonly Binding[]): string | undefined {
    const owners = new Map(this.#owners);
    for (const { key, path } of wanted) {
      const other = owners.get(path);
      if (other !== undefined && other !== key)
        return `'${other}' and '${key}' would both write ${shown(path)}. Give each an output of its own.`;
      owners.set(path, key);
    }
    return undefined;
  }

  bind(bindings: readonly Binding[]): void {
    for (const { key, path } of bindings) this.#owners.set(path, key);
  }

  /** What did not come to anything leaves its file to others. */
  release(key: string): void {
    for (const [path, owner] of this.#owners) if (owner === key) this.#owners.delete(path);
  }
}

function hostOutput(folder: string, output: unknown): string | undefined {
  return typeof output === 'string' && output.trim() !== '' ? resolve(folder, output.trim()) : undefined;
}

function shown(path: string): string {
  return Object.values(SOMEWHERE).reduce(
    (text, folder) => (text.startsWith(`${folder}/`) ? text.slice(folder.length + 1) : text),
    path,
  );
}
