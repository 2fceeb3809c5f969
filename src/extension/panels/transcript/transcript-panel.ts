/** One transcript panel: brings together its page, the reader of its files and the run it shows. */
import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../../client/index.ts';
import { childLayout } from '../../../core/projects/index.ts';
import {
  describeError,
  describeFaults,
  type ErrorValue,
  type FromTranscriptPanel,
  fromTranscriptPanel,
  type PanelHead,
  type PanelItem,
  type SourceContext,
  type SourceFile,
  type ToTranscriptPanel,
  toErrorValue,
} from '../../../protocol/index.ts';
import { COMMANDS } from '../../command-ids.ts';
import { translatedError } from '../../error-words.ts';
import { showError } from '../../messages.ts';
import { findChild, isWorkflow } from '../../runs/child-state.ts';
import type { Services } from '../../services.ts';
import type { BodyDocuments } from './body-documents.ts';
import { FollowedRun } from './followed-run.ts';
import { openFileAt, openLink } from './open-elsewhere.ts';
import { Outbox } from './outbox.ts';
import { isWorking, lastRequest, ownState, runHead, sessionHead, steeringOf } from './panel-head.ts';
import { RunTalk } from './run-talk.ts';
import { stateIcon } from './state-icon.ts';
import type { Subject } from './subject.ts';
import type { Reader, SourceMessage, TranscriptReaders } from './transcript-reader.ts';
import { WholeBodies } from './whole-bodies.ts';

type Message<T extends FromTranscriptPanel['type']> = Extract<FromTranscriptPanel, { type: T }>;
type FromSource<T extends SourceMessage['type']> = Extract<SourceMessage, { type: T }>;

const COMMAND_IDS = {
  interrupt: COMMANDS.interruptRun,
  stop: COMMANDS.stopRun,
  'force-stop': COMMANDS.forceStopRun,
  resume: COMMANDS.resumeRun,
  'open-text': COMMANDS.openTranscriptText,
} as const;

/** A place in a transcript that somebody looks for. */
export type ShownHit = Omit<Extract<ToTranscriptPanel, { type: 'hit' }>, 'type'>;

export interface PanelTools {
  services: Services;
  readers: TranscriptReaders;
  bodies: BodyDocuments;
  extensionUri: vscode.Uri;
}

export class TranscriptPanel {
  readonly subject: Subject;
  readonly #panel: vscode.WebviewPanel;
  readonly #tools: PanelTools;
  readonly #outbox: Outbox;
  readonly #run: FollowedRun | undefined;
  readonly #talk: RunTalk;
  readonly #bodies = new WholeBodies();
  readonly #subscriptions: vscode.Disposable[] = [];
  #snapshot: RunSnapshot | undefined;
  #reader: Reader | undefined;
  #files: SourceFile[] = [];
  /** Which file the person chose; null: the better one. */
  #wanted: SourceFile['kind'] | null = null;
  #source: PanelHead['source'];
  #window: FromSource<'snapshot'> | undefined;
  #cwd: string | null = null;
  #request: { tokens: number; model: string | null } | undefined;
  #windows = new Map<string, number | null>();
  #context = '';
  /** To be shown as soon as the page has the transcript. */
  #hit: ShownHit | undefined;
  /** Something is missing in what is shown. */
  #hasGap = false;
  #isDisposed = false;

  constructor(panel: vscode.WebviewPanel, subject: Subject, tools: PanelTools, onDispose: () => void) {
    this.subject = subject;
    this.#panel = panel;
    this.#tools = tools;
    this.#source = { kind: subject.kind === 'run' ? 'mirror' : 'session', other: false };
    this.#outbox = new Outbox((message) => panel.webview.postMessage(message));
    this.#talk = new RunTalk(
      subject,
      tools.services,
      () => this.#snapshot !== undefined && isWorkflow(this.#snapshot),
      (receipt) => this.#outbox.send(receipt),
    );
    this.#subscriptions.push(
      panel.webview.onDidReceiveMessage((message: unknown) => void this.#receive(message)),
      panel.onDidChangeViewState(() => this.#seen()),
      panel.onDidDispose(() => {
        this.release();
        onDispose();
      }),
    );
    if (subject.kind === 'run') this.#run = new FollowedRun(subject.directory, (snapshot) => this.#learn(snapshot));
    else {
      this.#files = [{ kind: 'session', path: subject.file }];
      this.#open();
    }
    this.#draw();
  }

  reveal(): void {
    this.#panel.reveal();
  }

  get isActive(): boolean {
    return this.#panel.active;
  }

  /** A command of the editor for the page. */
  focus(what: 'find' | 'steer' | 'list'): void {
    this.#outbox.send({ type: 'focus', what });
  }

  showHit({ query, hit: { key, cursor, excerpt, at, length }, occurrence }: ShownHit): void {
    this.#hit = { query, hit: { key, cursor, excerpt, at, length }, occurrence };
    if (this.#window && this.#outbox.isOpen) this.#sendHit();
  }

  #sendHit(): void {
    if (this.#hit) this.#outbox.send({ type: 'hit', ...this.#hit });
    this.#hit = undefined;
  }

  get title(): string {
    return this.#head().title;
  }

  #head(): PanelHead {
    const model = this.#request?.model ?? null;
    const facts = {
      source: this.#source,
      tokens: this.#request?.tokens ?? null,
      model,
      window: (model === null ? null : this.#windows.get(model)) ?? null,
    };
    const { subject } = this;
    if (subject.kind === 'session') return sessionHead(basename(subject.file), facts);
    const empty = {
      runId: basename(subject.directory),
      directory: subject.directory,
      view: null,
      error: null,
      skipped: 0,
    };
    return runHead(this.#snapshot ?? { ...empty, state: 'unknown' }, subject.child, facts);
  }

  /** Something became known of the run. */
  #learn(snapshot: RunSnapshot): void {
    if (this.#isDisposed || this.subject.kind !== 'run') return;
    const wasWorking = this.#isAtWork;
    this.#snapshot = snapshot;
    const hasEnded = wasWorking && !this.#isAtWork;
    const files = filesOfRun(snapshot, this.subject.child);
    const isNew =
      files.length !== this.#files.length || files.some(({ path }, index) => this.#files[index]?.path !== path);
    this.#files = files;
    if (!this.#reader) this.#open();
    else if ((isNew || hasEnded) && this.#wanted === null && this.#isLacking()) this.#open();
    else {
      if (files.length > 1) this.#source = { ...this.#source, other: true };
      this.#tellReader();
    }
    if (this.#panel.active) this.#tools.services.seen.markSeen([snapshot]);
    this.#draw();
    this.#outbox.sendHead(this.#head());
  }

  /** Whether the child this panel shows is working. */
  get #isAtWork(): boolean {
    const { subject } = this;
    return this.#snapshot !== undefined && subject.kind === 'run' && isWorking(ownState(this.#snapshot, subject.child));
  }

  /** What is shown is not there or has gaps: another file may be better now. */
  #isLacking(): boolean {
    return this.#hasGap || (this.#window !== undefined && !this.#window.there[this.#window.shown]);
  }

  #sourceContext(): SourceContext {
    if (this.subject.kind === 'session') return { live: null, steering: [] };
    const steering = this.#snapshot ? steeringOf(this.#snapshot, this.subject.child) : [];
    return { live: this.#isAtWork, steering: steering.map(({ mode, preview }) => ({ mode, preview })) };
  }

  #tellReader(): void {
    const context = this.#sourceContext();
    const mark = JSON.stringify(context);
    if (mark === this.#context) return;
    this.#context = mark;
    this.#reader?.learn(context);
  }

  #open(): void {
    this.#reader?.close();
    const context = this.#sourceContext();
    this.#context = JSON.stringify(context);
    const index = this.#files.findIndex(({ kind }) => kind === this.#wanted);
    const request = { files: this.#files, wanted: index === -1 ? null : index, context };
    this.#reader = this.#tools.readers.open(request, (message) => this.#hear(message));
  }

  #hear(message: SourceMessage): void {
    if (this.#isDisposed || this.#bodies.take(message)) return;
    switch (message.type) {
      case 'snapshot':
        this.#window = message;
        this.#cwd = message.cwd;
        this.#source = {
          kind: this.#files[message.shown]?.kind ?? 'mirror',
          // A session that was found since is not among the files of this reader.
          other:
            this.#files.length > message.there.length ||
            message.there.some((there, index) => there && index !== message.shown),
        };
        this.#request = lastRequest(message.window.items);
        this.#hasGap = message.window.items.some(({ kind }) => kind === 'gap');
        void this.#askForWindow();
        this.#sendSnapshot(message);
        break;
      case 'delta':
        this.#sendDelta(message);
        break;
      case 'page':
      case 'found':
      case 'body':
        this.#pass(message);
        break;
      case 'failed':
        this.#fail(message.request, message.error);
        break;
      case 'exported':
        // Of readers without a panel.
        break;
      default:
        message satisfies never;
    }
  }

  #sendSnapshot(message: FromSource<'snapshot'>): void {
    const taken = () => this.#reader?.send({ type: 'taken' });
    const { window } = message;
    this.#outbox.send(
      { type: 'snapshot', head: this.#head(), window, draft: this.#talk.draft },
      sizeOf(window.items),
      taken,
    );
    if (this.#outbox.isOpen) this.#sendHit();
  }

  #sendDelta({ source: _, ...message }: FromSource<'delta'>): void {
    this.#hasGap ||= message.added.some(({ kind }) => kind === 'gap');
    const last = lastRequest(message.added);
    if (last) {
      this.#request = last;
      this.#outbox.sendHead(this.#head());
      void this.#askForWindow();
    }
    const size =
      sizeOf(message.added) + sizeOf(message.changed) + message.grown.reduce((sum, { text }) => sum + text.length, 0);
    this.#outbox.send(message, size, () => this.#reader?.send({ type: 'taken' }));
  }

  #pass(message: FromSource<'page' | 'found' | 'body'>): void {
    const { source: _, ...answer } = message;
    if (answer.type !== 'body') {
      this.#outbox.send(answer, answer.type === 'page' ? sizeOf(answer.window?.items ?? []) : 10_000);
      return;
    }
    const { request } = answer;
    const more = answer.done ? undefined : () => this.#reader?.send({ type: 'more', request });
    this.#outbox.send(answer, answer.text?.length, more);
  }

  /** How much the model takes; asking may start Pi, so it is not done where nothing may start. */
  async #askForWindow(): Promise<void> {
    const model = this.#request?.model;
    if (!model || this.#windows.has(model) || !vscode.workspace.isTrusted) return;
    this.#windows.set(model, null);
    try {
      const { models } = await (await this.#tools.services.toolbox.tools()).models.usable();
      this.#windows.set(model, models.find(({ name }) => name === model)?.contextWindow ?? null);
    } catch {
      // Without it the gauge has no end; Check Installation says what is missing.
      return;
    }
    if (!this.#isDisposed) this.#outbox.sendHead(this.#head());
  }

  async #receive(data: unknown): Promise<void> {
    const parsed = fromTranscriptPanel.safeParse(data);
    if (!parsed.success) {
      const error = describeError('message_invalid', { faults: describeFaults(parsed.error) });
      this.#tools.services.log.error(error.message);
      this.#fail(null, error);
      return;
    }
    const message = parsed.data;
    try {
      await this.#act(message);
    } catch (error) {
      const request = 'request' in message ? message.request : null;
      if (request === null) showError(error, this.#tools.services.log);
      else this.#fail(request, toErrorValue(error));
    }
  }

  /** The page cannot look translations up: it gets errors in the language of the editor. */
  #fail(request: number | null, error: ErrorValue): void {
    this.#outbox.send({ type: 'failed', request, error: translatedError(error) });
  }

  async #act(message: FromTranscriptPanel): Promise<void> {
    switch (message.type) {
      case 'ready':
        this.#outbox.open();
        // Where nothing was read yet, the first snapshot comes by itself.
        if (this.#window) this.#reader?.send({ type: 'follow', following: true });
        break;
      case 'page':
      case 'find':
        this.#reader?.send(message);
        break;
      case 'body.fetch': {
        const { request, ref, limit } = message;
        this.#reader?.send({ type: 'body', request, ref, limit });
        break;
      }
      case 'steer':
        await this.#talk.steer(message);
        break;
      case 'answer':
        await this.#talk.answer(message);
        break;
      case 'draft':
        await this.#talk.keepDraft(message.text);
        break;
      case 'open.file':
        await openFileAt(this.#folder, message.path, message.line);
        break;
      case 'open.link':
        await openLink(message.url);
        break;
      case 'open.body':
        await this.#tools.bodies.show(message.title, await this.#bodies.fetch(this.#reader, message.ref));
        break;
      case 'copy':
        await vscode.env.clipboard.writeText(message.text);
        break;
      case 'command':
        await this.#command(message.name);
        break;
      default:
        message satisfies never;
    }
  }

  async #command(name: Message<'command'>['name']): Promise<void> {
    if (name === 'switch-source') {
      this.#wanted = this.#source.kind === 'mirror' ? 'session' : 'mirror';
      this.#open();
      return;
    }
    const { subject } = this;
    if (subject.kind === 'session') {
      // There is nothing but the file itself.
      if (name === 'open-text') await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(subject.file));
      return;
    }
    const { directory, child } = subject;
    await vscode.commands.executeCommand(COMMAND_IDS[name], { runId: basename(directory), directory, child });
  }

  /** Where the child works. */
  get #folder(): string | null {
    const { subject } = this;
    const child = this.#snapshot && subject.kind === 'run' ? findChild(this.#snapshot, subject.child) : undefined;
    return child?.cwd ?? this.#snapshot?.view?.cwd ?? this.#cwd;
  }

  /** A hidden page is no more: what happens meanwhile is not read. It says `ready` when it is there again. */
  #seen(): void {
    if (!this.#panel.visible && this.#outbox.isOpen) {
      this.#outbox.close();
      this.#reader?.send({ type: 'follow', following: false });
    }
    if (this.#panel.active && this.#snapshot) this.#tools.services.seen.markSeen([this.#snapshot]);
  }

  /** Title and icon of the tab. */
  #draw(): void {
    const { title, agent, state } = this.#head();
    // The key of a workflow's child tells more of it than its agent.
    const isNamed = agent === null || (this.#snapshot !== undefined && isWorkflow(this.#snapshot));
    const name = isNamed ? title : `${agent} · ${title}`;
    const letters = [...name];
    this.#panel.title = letters.length > 40 ? `${letters.slice(0, 39).join('')}…` : name;
    this.#panel.iconPath = stateIcon(this.#tools.extensionUri, state);
  }

  /** Ends what stands behind the panel; the tab stays, to be restored. */
  release(): void {
    this.#isDisposed = true;
    this.#run?.dispose();
    this.#outbox.close();
    this.#reader?.close();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}

/** Where what a child said is written down: the mirror, and its session file once there is one. */
export function filesOfRun({ directory, view }: RunSnapshot, child: number): SourceFile[] {
  const session = view?.children.find(({ index }) => index === child)?.session?.file;
  return [
    { kind: 'mirror', path: childLayout(directory, child).transcript },
    ...(session ? [{ kind: 'session' as const, path: session }] : []),
  ];
}

/** Characters of the texts in items. */
function sizeOf(items: readonly PanelItem[]): number {
  return items.reduce((sum, item) => {
    if (item.kind === 'tool') return sum + item.arguments.text.length + item.output.text.length + 500;
    return sum + ('body' in item ? item.body.text.length : 0) + 300;
  }, 0);
}
