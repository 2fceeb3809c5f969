/** What agents can name here, as far as anybody has heard: asking Pi takes its time, and nobody who types waits for it. */
import * as vscode from 'vscode';
import { knownNames, skillsFor, type Toolbox } from '../../client/index.ts';
import type { KnownNames, KnownSkill } from '../../core/agent-language/index.ts';

/** Milliseconds after which it is asked again, while what was heard is still used. */
const FRESH_MS = 60_000;

/** Milliseconds for which skills on the disk are as they were: with every key somebody asks for them. */
const RECENT_MS = 1000;

/** Who is asked. */
export interface NameSources {
  knownNames: typeof knownNames;
  skillsFor: typeof skillsFor;
}

interface Heard {
  at: number;
  names: KnownNames & { defaultModel?: string | null | undefined };
  isAsking: boolean;
}

export class AgentNames implements vscode.Disposable {
  readonly #toolbox: Toolbox;
  readonly #sources: NameSources;
  readonly #heard = new Map<string, Heard>();
  readonly #recent = new Map<string, { at: number; skills: Promise<KnownSkill[]> }>();
  readonly #changed = new vscode.EventEmitter<void>();
  #isDisposed = false;
  /** Something else than before can be named. */
  readonly onDidChange = this.#changed.event;

  constructor(toolbox: Toolbox, sources: NameSources = { knownNames, skillsFor }) {
    this.#toolbox = toolbox;
    this.#sources = sources;
  }

  /**
   * What was heard last for a folder; nothing in it where nobody has been asked yet. It is asked then, for the next time: not in a
   * window without trust, where nothing is started.
   *
   * @param cwd absolute
   */
  of(cwd: string): Heard['names'] {
    const trust = vscode.workspace.isTrusted ? 'approve' : 'no-approve';
    const key = `${trust} ${cwd}`;
    const heard = this.#heard.get(key) ?? { at: Number.NEGATIVE_INFINITY, names: {}, isAsking: false };
    this.#heard.set(key, heard);
    if (trust === 'approve' && !heard.isAsking && Date.now() - heard.at > FRESH_MS) void this.#ask(heard, cwd);
    return heard.names;
  }

  /** The same, and nobody is asked. */
  heard(cwd: string): Heard['names'] {
    return this.#heard.get(`approve ${cwd}`)?.names ?? {};
  }

  /** Whether the answer to what was asked is still to come. */
  isAsking(cwd: string): boolean {
    return this.#heard.get(`approve ${cwd}`)?.isAsking ?? false;
  }

  /** Skills as of a moment ago, with those of the places that a definition names itself. @param own absolute */
  skills(cwd: string, own: readonly string[]): Promise<KnownSkill[]> {
    const trust = vscode.workspace.isTrusted ? 'approve' : 'no-approve';
    const key = JSON.stringify([trust, cwd, own]);
    const known = this.#recent.get(key);
    if (known && Date.now() - known.at < RECENT_MS) return known.skills;
    const skills = this.#sources.skillsFor(this.#toolbox, cwd, trust, own);
    this.#recent.clear();
    this.#recent.set(key, { at: Date.now(), skills });
    return skills;
  }

  async #ask(heard: Heard, cwd: string): Promise<void> {
    heard.isAsking = true;
    try {
      const names = await this.#sources.knownNames(this.#toolbox, { cwd, trust: 'approve' });
      const isOther = JSON.stringify(names) !== JSON.stringify(heard.names);
      heard.names = names;
      if (isOther && !this.#isDisposed) this.#changed.fire();
    } finally {
      heard.at = Date.now();
      heard.isAsking = false;
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#changed.dispose();
  }
}
