/**
 * The transcript page: takes in what the extension says, keeps the parts of the page in step with it, and sends what the
 * person does. Messages change the data at once; the page is drawn at most once per frame.
 */
import { html, nothing, render } from 'lit';
import {
  type FromTranscriptPanel,
  type PanelHead,
  type PanelItem,
  type ToTranscriptPanel,
  type TranscriptWord,
  toTranscriptPanel,
} from '../../src/protocol/index.ts';
import { Announcer } from '../shared/announce.ts';
import { Bridge, type EditorApi } from '../shared/bridge.ts';
import { focusWithText } from '../shared/controls.ts';
import { oncePerFrame } from '../shared/frame.ts';
import type { Words } from '../shared/words.ts';
import { Bodies } from './bodies.ts';
import { Find, type Hit } from './find.ts';
import { findBox, findCount } from './find-box.ts';
import { clearMarks, paintMarks } from './find-marks.ts';
import { Folds } from './folds.ts';
import { type HeadCommand, headView, isTicking } from './head.ts';
import { Highlighter } from './highlight.ts';
import { listenForItemClicks } from './item-clicks.ts';
import type { ItemContext } from './item-context.ts';
import { plainText } from './item-text.ts';
import { makeParts, type PageParts } from './page-parts.ts';
import { Place, type Subject } from './place.ts';
import { questionCard } from './question-card.ts';
import { Questions } from './questions.ts';
import { Reader } from './reader.ts';
import { RECEIPT_STATES, steerBox } from './steer-box.ts';
import { Steering } from './steering.ts';
import { emptyView, jumpButton, type Trouble, topLine, troubleOf, troubleView } from './surroundings.ts';

export class TranscriptPage {
  readonly #words: Words<TranscriptWord>;
  readonly #bridge: Bridge<ToTranscriptPanel, FromTranscriptPanel>;
  readonly #parts: PageParts;
  readonly #folds = new Folds();
  readonly #bodies: Bodies;
  readonly #reader: Reader;
  readonly #find: Find;
  readonly #steering: Steering;
  readonly #questions: Questions;
  readonly #place: Place;
  readonly #announcer: Announcer;
  readonly #draw: () => void;
  #head: PanelHead | null = null;
  #trouble: Trouble | null = null;
  #ticking: number | undefined;

  constructor(root: HTMLElement, api: EditorApi, words: Words<TranscriptWord>, subject: Subject) {
    this.#words = words;
    this.#parts = makeParts(root, words);
    this.#draw = oncePerFrame(() => this.#drawAll());
    this.#place = new Place(api, subject);
    this.#announcer = new Announcer(this.#parts.live);
    this.#bridge = new Bridge<ToTranscriptPanel, FromTranscriptPanel>(api, toTranscriptPanel, {
      message: (message) => this.#take(message),
      unreadable: (where) => this.#fail({ message: words.text('trouble.unreadable', where), hint: null, code: null }),
    });
    const bridge = this.#bridge;
    const forget = (request: number) => bridge.forget(request);
    this.#bodies = new Bodies(
      { fetch: (ref, limit, answer) => bridge.request({ type: 'body.fetch', ref, limit }, answer), forget },
      () => this.#redrawRows(),
    );
    this.#reader = new Reader(this.#parts, this.#itemContext(), {
      page: (direction, cursor, answer) => bridge.request({ type: 'page', direction, cursor }, answer),
      forget,
      failed: (error) => this.#fail(troubleOf(error)),
      changed: this.#draw,
      moved: () => this.#moved(),
      copy: (item) => this.#copyItem(item),
    });
    this.#find = new Find({
      find: (query, matchCase, answer) => bridge.request({ type: 'find', query, matchCase }, answer),
      forget,
      nearest: (hits) => this.#reader.nearest(hits),
      show: (hit) => this.#showHit(hit),
      changed: () => this.#findChanged(),
      failed: (error) => this.#fail(troubleOf(error)),
    });
    this.#steering = new Steering({
      steer: (mode, text, answer) => bridge.request({ type: 'steer', mode, text }, answer),
      forget,
      saveDraft: (text) => bridge.post({ type: 'draft', text }),
      changed: this.#draw,
      told: (state, message) =>
        this.#announcer.say('receipt', [words.text(RECEIPT_STATES[state].word), message].filter(Boolean).join(': ')),
    });
    this.#questions = new Questions({
      answer: (questionId, answer, take) => bridge.request({ type: 'answer', questionId, answer }, take),
      forget,
      refused: words.text('receipt.refused'),
      changed: this.#draw,
    });
    this.#listen();
  }

  /** Opens the line to the extension, which answers with a snapshot. */
  start(): void {
    this.#drawAll();
    this.#bridge.ready({ type: 'ready' });
  }

  #take(message: ToTranscriptPanel): void {
    switch (message.type) {
      case 'snapshot':
        this.#snapshot(message);
        break;
      case 'delta':
        if (this.#head === null) return;
        if (message.head) this.#setHead(message.head);
        this.#reader.apply(message);
        break;
      case 'failed':
        this.#trouble = troubleOf(message.error);
        break;
      case 'focus':
        this.#focus(message.what);
        break;
      case 'hit':
        this.#find.seek(message.query, message.hit, message.occurrence);
        // Enter goes to the next one.
        this.#focus('find');
        break;
      case 'page':
      case 'body':
      case 'found':
      case 'receipt':
        break; // answers go to who asked
      default:
        message satisfies never;
    }
    this.#draw();
  }

  #snapshot({ head, window, draft }: Extract<ToTranscriptPanel, { type: 'snapshot' }>): void {
    const first = this.#head === null;
    const place = first ? this.#place.restore() : this.#reader.place;
    if (this.#head?.source.kind !== head.source.kind) this.#bodies.clear();
    this.#setHead(head);
    if (first) this.#steering.restoreDraft(draft);
    this.#reader.replace(window, place);
  }

  #setHead(head: PanelHead): void {
    const before = this.#head;
    this.#head = head;
    this.#steering.update(head.steering, before === null);
    this.#questions.update(head.questions);
    const asked = new Set(before?.questions.map(({ id }) => id));
    const question = head.questions.find(({ id }) => !asked.has(id));
    if (question) this.#announcer.say('question', this.#words.text('question.new', question.title));
    if (before && before.stateWord !== head.stateWord) this.#announcer.say('state', head.stateWord);
    if (before?.source.other !== head.source.other) this.#reader.invalidate();
  }

  #moved(): void {
    if (this.#head === null) return;
    this.#place.moveTo(this.#reader.place);
    this.#paintMarks();
  }

  #showHit(hit: Hit): void {
    // Wherever in the item it stands, it is to be seen.
    for (const part of ['main', 'arguments', 'output', 'diff']) this.#folds.set(hit.key, part, true);
    this.#reader.invalidate();
    this.#reader.goTo(hit, 'center', () => this.#paintMarks());
  }

  #findChanged(): void {
    if (this.#find.open && this.#find.query !== '' && this.#find.progress === undefined)
      this.#announcer.say('find', findCount(this.#find, this.#words));
    this.#paintMarks();
    this.#draw();
  }

  #paintMarks(): void {
    const { open, query, matchCase, hit } = this.#find;
    if (!open || query === '') {
      clearMarks();
      return;
    }
    const current = hit ? { key: hit.key, occurrence: this.#find.occurrence } : null;
    paintMarks(this.#reader.rows, { query, matchCase, current });
  }

  #listen(): void {
    listenForItemClicks(this.#parts.block, {
      post: (message) => this.#bridge.post(message),
      copy: (text) => this.#copy(text),
      copyItem: (row) => this.#copyItem(this.#reader.itemOf(row)),
    });
    document.addEventListener('keydown', (event) => this.#keyed(event));
    document.addEventListener('visibilitychange', () => this.#putAway());
    window.addEventListener('pagehide', () => this.#putAway());
  }

  /** The page may go away: what is kept is kept now. */
  #putAway(): void {
    this.#steering.flushDraft();
    this.#place.flush();
  }

  #keyed(event: KeyboardEvent): void {
    const control = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if (control && event.key.toLowerCase() === 'f') this.#focus('find');
    else if (event.key === 'F3' && this.#find.open) this.#find.step(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape' && this.#find.open) this.#closeFind();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #closeFind(): void {
    this.#find.close();
    this.#focus('list');
  }

  #focus(what: 'find' | 'steer' | 'list'): void {
    if (what === 'find') this.#find.start();
    this.#drawAll();
    if (what === 'list') this.#reader.focus();
    else if (what === 'find') focusWithText(document.getElementById('find'));
    else document.getElementById('steer')?.focus();
  }

  #copyItem(item: PanelItem | undefined): void {
    if (item) this.#copy(plainText(item));
  }

  #copy(text: string): void {
    this.#bridge.post({ type: 'copy', text });
    this.#announcer.say('copied', this.#words.text('item.copied'));
  }

  #itemContext(): ItemContext {
    const page = this;
    return {
      words: this.#words,
      folds: this.#folds,
      bodies: this.#bodies,
      highlighter: new Highlighter(() => this.#paintMarks()),
      get otherSource() {
        return page.#head?.source.other ?? false;
      },
      setOpen: (key, part, open) => {
        this.#folds.set(key, part, open);
        this.#redrawRows();
      },
      openFile: (path, line) => this.#bridge.post({ type: 'open.file', path, line }),
      openBody: (ref, title) => this.#bridge.post({ type: 'open.body', ref, title }),
      command: (name) => this.#command(name),
    };
  }

  #command(name: HeadCommand): void {
    this.#bridge.post({ type: 'command', name });
  }

  #redrawRows(): void {
    this.#reader.invalidate();
    this.#draw();
  }

  /** Tells of something that could not be done; null: it has been read. */
  #fail(trouble: Trouble | null): void {
    this.#trouble = trouble;
    this.#draw();
  }

  #drawAll(): void {
    const words = this.#words;
    const reader = this.#reader;
    const { head, trouble, find, scroller, block, empty, top, jump, foot } = this.#parts;
    const act = { command: (name: HeadCommand) => this.#command(name), find: () => this.#focus('find') };
    const draw = (part: HTMLElement, view: unknown) => render(view, part);
    draw(head, this.#head ? headView(this.#head, Date.now(), words, act) : nothing);
    draw(
      trouble,
      troubleView(this.#trouble, words, () => this.#fail(null)),
    );
    draw(
      find,
      findBox(this.#find, words, () => this.#closeFind()),
    );
    draw(empty, reader.isEmpty ? emptyView(this.#head, this.#trouble !== null, words, act) : nothing);
    draw(jump, reader.following || reader.isEmpty ? nothing : jumpButton(reader.fresh, words, () => reader.toEnd()));
    draw(foot, this.#head ? this.#footView(this.#head) : nothing);
    draw(top, topLine(this.#head === null ? 'none' : reader.before, words));
    scroller.hidden = reader.isEmpty;
    block.setAttribute('aria-busy', String(reader.isAsking('before', 'after', 'around', 'tail')));
    reader.draw();
    this.#tick();
  }

  #footView(head: PanelHead): unknown[] {
    const words = this.#words;
    const cards = head.questions.map((question) => questionCard(question, words, this.#questions));
    const act = {
      resume: () => this.#command('resume'),
      again: (id: string) => {
        this.#steering.again(id);
        this.#focus('steer');
      },
    };
    return [
      cards.length > 0 ? html`<div class="questions">${cards}</div>` : nothing,
      steerBox(head, this.#steering, words, act),
    ];
  }

  /** Draws once a second while the head shows a time that goes on. */
  #tick(): void {
    const ticking = this.#head !== null && isTicking(this.#head);
    if (ticking === (this.#ticking !== undefined)) return;
    if (ticking) this.#ticking = window.setInterval(this.#draw, 1000);
    else {
      window.clearInterval(this.#ticking);
      this.#ticking = undefined;
    }
  }
}
