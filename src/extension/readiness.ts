/**
 * How far a person is with setting up: Pi found, a model usable, a first run. The steps of the walkthrough check themselves
 * by these context keys. Looked at in the background until everything has been found once, and never at the start after that.
 */
import * as vscode from 'vscode';
import type { Toolbox } from '../client/index.ts';
import { toErrorValue } from '../protocol/index.ts';
import { BUILT_IN, CONTEXT, TOLD } from './command-ids.ts';
import type { RunsModel } from './runs/runs-model.ts';

const READY = 'setup.ready';
/** Milliseconds between two looks, and after the start before the first. */
const PAUSE_MS = 2000;

export class Readiness implements vscode.Disposable {
  readonly #toolbox: Toolbox;
  readonly #state: vscode.Memento;
  readonly #log: vscode.LogOutputChannel;
  readonly #subscriptions: vscode.Disposable;
  /** The steps of the walkthrough by their context keys, as they were told last. */
  readonly #told = new Map<string, boolean>();
  readonly #changed = new vscode.EventEmitter<void>();
  #piMissing = false;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  /** Pi has come or gone, as far as somebody looked. */
  readonly onDidChange = this.#changed.event;

  /** Looked for and not found, or too old to be used. */
  get piMissing(): boolean {
    return this.#piMissing;
  }

  /** @param state kept for all workspaces of this machine */
  constructor(toolbox: Toolbox, runs: RunsModel, state: vscode.Memento, log: vscode.LogOutputChannel) {
    this.#toolbox = toolbox;
    this.#state = state;
    this.#log = log;
    const lookUnlessReady = () => {
      if (!state.get<boolean>(READY)) this.#lookSoon();
    };
    this.#subscriptions = vscode.Disposable.from(
      this.#changed,
      // Whoever installs Pi or logs in does it in a terminal, here or elsewhere, or by a setting.
      vscode.window.onDidChangeWindowState(({ focused }) => focused && lookUnlessReady()),
      vscode.window.onDidEndTerminalShellExecution(lookUnlessReady),
      vscode.window.onDidCloseTerminal(lookUnlessReady),
      vscode.workspace.onDidGrantWorkspaceTrust(lookUnlessReady),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('piLanes')) this.#lookSoon();
      }),
      runs.onDidChange(() => {
        if (runs.all().length > 0) void this.#tell(CONTEXT.hasRun, true);
      }),
    );
    if (state.get<boolean>(READY)) void this.#show(true, true);
    else this.#lookSoon();
  }

  #lookSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // Nothing is started in a workspace that is not trusted, not even to ask for its version.
      if (vscode.workspace.isTrusted) void this.look();
    }, PAUSE_MS);
  }

  /** Looks now. Never rejects: what is missing is told by the commands that need it. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Something was installed: a look that was under way may not have seen it. */
  async lookAgain(): Promise<void> {
    await this.#looking;
    await this.look();
  }

  async #look(): Promise<void> {
    let found = false;
    let missing = false;
    let usable = false;
    try {
      const { models } = await this.#toolbox.tools();
      found = true;
      // Known at once; asking Pi for its models takes a start of it.
      await this.#tellMissing(false);
      await this.#tell(CONTEXT.piFound, true);
      usable = (await models.usable()).models.length > 0;
    } catch (error) {
      const { code } = toErrorValue(error);
      missing = code === 'pi_not_found' || code === 'pi_too_old';
      this.#log.debug(`Not ready yet: ${error instanceof Error ? error.message : error}`);
    }
    await this.#tellMissing(missing);
    await this.#show(found, usable);
    await this.#state.update(READY, found && usable);
  }

  async #tellMissing(missing: boolean): Promise<void> {
    await setContext(CONTEXT.piMissing, missing);
    if (this.#piMissing === missing) return;
    this.#piMissing = missing;
    this.#changed.fire();
  }

  async #show(piFound: boolean, modelUsable: boolean): Promise<void> {
    await this.#tell(CONTEXT.piFound, piFound);
    await this.#tell(CONTEXT.modelUsable, modelUsable);
  }

  async #tell(key: string, done: boolean): Promise<void> {
    this.#told.set(key, done);
    await setContext(key, done);
  }

  /**
   * For a walkthrough that has just been opened. VS Code listens to context keys from then on, and a key that was true before
   * never completes its step: so each step has a second key, which is set only now.
   */
  async tellAgain(): Promise<void> {
    for (const [key, done] of this.#told) await setContext(`${key}${TOLD}`, done);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#subscriptions.dispose();
  }
}

function setContext(key: string, value: boolean): Thenable<unknown> {
  return vscode.commands.executeCommand(BUILT_IN.setContext, key, value);
}
