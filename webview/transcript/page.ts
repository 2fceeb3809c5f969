/**
 * The transcript page: takes in what the extension says, keeps the parts of the page in step with it, and sends what the
 * person does. Messages change the data at once; the page is drawn at most once per frame.
 */
import { html, nothing, render } from 'lit';
import {
  type FromTranscriptPanel,
  type PanelHead,
  type QuestionAnswer,
  type ToTranscriptPanel,
  type TranscriptWord,
  toTranscriptPanel,
} from '../../src/protocol/index.ts';
import { Announcer } from '../shared/announce.ts';
import { Bridge, type EditorApi } from '../shared/bridge.ts';
import { oncePerFrame } from '../shared/frame.ts';
import type { Words } from '../shared/words.ts';
import { Bodies } from './bodies.ts';
import { Find, type Hit } from './find.ts';
import { findBox, findCount } from './find-box.ts';
import { clearMarks, paintMarks } from './find-marks.ts';
import { Folds } from './folds.ts';
import { type HeadCommand, headView, isTicking } from './head.ts';
import { Highlighter } from './highlight.ts';
import type { ItemContext } from './item-context.ts';
import { ItemList } from './item-list.ts';
import { plainText } from './item-text.ts';
import { type Delta, ItemWindow } from './item-window.ts';
import { handleListKey } from './list-keys.ts';
import { isWebLink } from './markdown.ts';
import { makeParts, type PageParts } from './page-parts.ts';
import { Paging } from './paging.ts';
import { Place, type Subject } from './place.ts';
import { questionCard } from './question-card.ts';
import { Rows } from './rows.ts';
import { RECEIPT_STATES, steerBox } from './steer-box.ts';
import { Steering } from './steering.ts';
import { emptyView, jumpButton, type Trouble, topLine, troubleOf, troubleView } from './surroundings.ts';

/** Rows from an end of the window at which its neighbours are asked for. */
const NEAR = 15;

export class TranscriptPage {
  readonly #words: Words<TranscriptWord>;
  readonly #bridge: Bridge<ToTranscriptPanel, FromTranscriptPanel>;
  readonly #parts: PageParts;
  readonly #window = new ItemWindow();
  readonly #folds = new Folds();
  readonly #bodies: Bodies;
  readonly #rows: Rows;
  readonly #list: ItemList;
  readonly #paging: Paging;
  readonly #find: Find;
  readonly #steering: Steering;
  readonly #place: Place;
  readonly #announcer: Announcer;
  readonly #draw: () => void;
  readonly #answering = new Set<string>();
  readonly #problems = new Map<string, string>();
  #head: PanelHead | null = null;
  #trouble: Trouble | null = null;
  /** Items that came while the end was not followed. */
  #fresh = 0;
  #ticking: number | undefined;

  constructor(root: HTMLElement, api: EditorApi, words: Words<TranscriptWord>, subject: Subject) {
    this.#words = words;
    this.#parts = makeParts(root, words);
    this.#draw = oncePerFrame(() => this.#drawAll());
    this.#bridge = new Bridge<ToTranscriptPanel, FromTranscriptPanel>(api, toTranscriptPanel, {
      message: (message) => this.#take(message),
      unreadable: (where) =>
        this.#setTrouble({ message: words.text('trouble.unreadable', where), hint: null, code: null }),
    });
    const forget = (request: number) => this.#bridge.forget(request);
    this.#bodies = new Bodies(
      { fetch: (ref, limit, answer) => this.#bridge.request({ type: 'body.fetch', ref, limit }, answer), forget },
      () => this.#redrawRows(),
    );
    const list = () => this.#list;
    const context = this.#itemContext();
    this.#rows = new Rows(this.#window, context, {
      later: () => list().update(),
      width: () => this.#parts.scroller.clientWidth,
    });
    this.#list = new ItemList(this.#parts.scroller, this.#parts.sizer, this.#parts.block, this.#rows, {
      followingChanged: () => this.#followingChanged(),
      moved: () => this.#moved(),
    });
    this.#paging = new Paging(
      {
        page: (direction, cursor, answer) => this.#bridge.request({ type: 'page', direction, cursor }, answer),
        forget,
        arrived: (how) => this.#arrived(how),
        failed: (message) => this.#setTrouble({ message, hint: null, code: null }),
        changed: this.#draw,
      },
      this.#window,
    );
    this.#find = new Find({
      find: (query, matchCase, answer) => this.#bridge.request({ type: 'find', query, matchCase }, answer),
      forget,
      nearest: (hits) => this.#nearest(hits),
      show: (hit) => this.#showHit(hit),
      changed: () => this.#findChanged(),
    });
    this.#steering = new Steering({
      steer: (mode, text, answer) => this.#bridge.request({ type: 'steer', mode, text }, answer),
      forget,
      saveDraft: (text) => this.#bridge.post({ type: 'draft', text }),
      changed: this.#draw,
      told: (state, message) =>
        this.#announcer.say('receipt', [words.text(RECEIPT_STATES[state].word), message].filter(Boolean).join(': ')),
    });
    this.#place = new Place(api, subject);
    this.#announcer = new Announcer(this.#parts.live);
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
        this.#delta(message);
        break;
      case 'failed':
        this.#setTrouble(troubleOf(message.error));
        break;
      case 'focus':
        this.#focus(message.what);
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
    const reading = first ? this.#place.restore() : this.#anchor();
    this.#paging.cancel();
    this.#setHead(head);
    if (first) this.#steering.restoreDraft(draft);
    this.#window.replace(window);
    this.#fresh = 0;
    if (!reading) return;
    this.#list.leaveEnd();
    this.#goTo(reading, 'start');
  }

  #delta(delta: Delta): void {
    if (this.#head === null) return;
    if (delta.head) this.#setHead(delta.head);
    this.#handOverFolds(delta);
    const more = this.#window.apply(delta);
    if (this.#list.following) this.#trim('start');
    else {
      this.#fresh = Math.max(0, this.#fresh + more);
      this.#trim(this.#list.first > this.#window.items.length / 2 ? 'start' : 'end');
    }
  }

  /** What was unfolded while it was streamed stays so when the finished item takes its place. */
  #handOverFolds(delta: Delta): void {
    const added = [...delta.added];
    for (const key of delta.removed) {
      const kind = this.#window.get(key)?.kind;
      const heir = added.findIndex((item) => item.kind === kind);
      const [item] = heir < 0 ? [] : added.splice(heir, 1);
      if (item) this.#folds.move(key, item.key);
      else this.#folds.forget([key]);
    }
  }

  #trim(end: 'start' | 'end'): void {
    this.#folds.forget(this.#window.trim(end));
  }

  #setHead(head: PanelHead): void {
    const before = this.#head;
    this.#head = head;
    this.#steering.update(head.steering, before === null);
    const asked = new Set(before?.questions.map(({ id }) => id));
    const question = head.questions.find(({ id }) => !asked.has(id));
    if (question) this.#announcer.say('question', this.#words.text('question.new', question.title));
    if (before && before.stateWord !== head.stateWord) this.#announcer.say('state', head.stateWord);
    if (before?.source.other !== head.source.other) this.#rows.invalidate();
    for (const id of this.#answering) if (!head.questions.some((one) => one.id === id)) this.#answering.delete(id);
  }

  #arrived(how: 'neighbours' | 'replaced'): void {
    if (how === 'replaced') this.#fresh = 0;
    // What is far from the view is at the other end of what was just added.
    else this.#trim(this.#list.first > this.#window.items.length / 2 ? 'start' : 'end');
    this.#list.draw();
  }

  #goTo(anchor: { readonly key: string; readonly cursor: string }, where: 'start' | 'center', then = () => {}): void {
    const show = () => {
      const index = this.#window.indexOf(anchor.key);
      if (index >= 0) this.#list.scrollTo(index, where);
      then();
    };
    if (this.#window.indexOf(anchor.key) >= 0) show();
    else {
      this.#list.leaveEnd();
      this.#paging.jump('around', anchor.cursor, show);
    }
  }

  #toEnd(): void {
    this.#fresh = 0;
    if (this.#window.after === null) this.#list.follow();
    else this.#paging.jump('tail', null, () => this.#list.follow());
  }

  /** The first item in view whose place is known; null while the end is followed. */
  #anchor(): { key: string; cursor: string } | null {
    if (this.#list.following) return null;
    const item = this.#window.items.slice(Math.max(0, this.#list.first)).find(({ cursor }) => cursor !== null);
    return item?.cursor ? { key: item.key, cursor: item.cursor } : null;
  }

  #moved(): void {
    if (this.#head === null) return;
    if (this.#list.first >= 0 && this.#list.first < NEAR) this.#paging.more('before');
    if (this.#list.last >= this.#window.items.length - NEAR) this.#paging.more('after');
    this.#place.moveTo(this.#anchor());
    this.#paintMarks();
    this.#oneTabStop();
  }

  #followingChanged(): void {
    if (this.#list.following) this.#fresh = 0;
    this.#draw();
  }

  #nearest(hits: readonly Hit[]): number {
    const first = this.#list.first;
    return hits.findIndex(({ key }) => this.#window.indexOf(key) >= Math.max(0, first));
  }

  #showHit(hit: Hit): void {
    // Wherever in the item it stands, it is to be seen.
    for (const part of ['main', 'arguments', 'output', 'diff']) this.#folds.set(hit.key, part, true);
    this.#rows.invalidate();
    this.#goTo(hit, 'center', () => this.#paintMarks());
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
    paintMarks(this.#list.rows, { query, matchCase, current });
  }

  /** Tab leads to one row: the one that had the focus, else the last in view. */
  #oneTabStop(): void {
    const rows = this.#list.rows;
    if (rows.some((row) => row.tabIndex === 0)) return;
    const last = this.#list.row(this.#rows.keyOf(this.#list.last)) ?? rows.at(-1);
    if (last) last.tabIndex = 0;
  }

  #focusRow(index: number): void {
    const last = this.#window.items.length - 1;
    const to = Math.max(0, Math.min(last, index));
    const key = this.#rows.keyOf(to);
    this.#rows.active = key;
    if (to === last && this.#window.after === null) this.#list.follow();
    else this.#list.scrollTo(to, 'nearest');
    this.#list.row(key)?.focus({ preventScroll: true });
  }

  #focused(): number {
    const key = this.#rows.active;
    const index = key === null ? -1 : this.#window.indexOf(key);
    return index >= 0 ? index : Math.max(0, this.#list.last);
  }

  #listen(): void {
    const { scroller, block } = this.#parts;
    block.addEventListener('click', (event) => this.#clicked(event));
    block.addEventListener('auxclick', (event) => this.#clicked(event));
    block.addEventListener('focusin', ({ target }) => {
      const row = target instanceof Element ? target.closest<HTMLElement>('.row') : null;
      if (!row?.dataset['key'] || this.#rows.active === row.dataset['key']) return;
      for (const other of this.#list.rows) other.tabIndex = other === row ? 0 : -1;
      this.#rows.active = row.dataset['key'];
    });
    scroller.addEventListener('keydown', (event) =>
      handleListKey(event, {
        step: (by) => this.#focusRow(this.#focused() + by),
        toStart: () => this.#focusRow(0),
        toEnd: () => {
          this.#toEnd();
          this.#focusRow(this.#window.items.length - 1);
        },
        page: (by) => this.#focusRow(this.#focused() + by * Math.max(1, this.#list.last - this.#list.first)),
        toggle: (row) => row.querySelector<HTMLElement>('[data-fold]')?.click(),
        copy: (row) => this.#copyItem(row),
      }),
    );
    document.addEventListener('keydown', (event) => this.#pageKey(event));
    document.addEventListener('visibilitychange', () => this.#putAway());
    window.addEventListener('pagehide', () => this.#putAway());
  }

  #putAway(): void {
    this.#steering.flushDraft();
    this.#place.flush();
  }

  #pageKey(event: KeyboardEvent): void {
    const find =
      (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'f';
    if (find) this.#focus('find');
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
    if (what === 'list') this.#focusRow(this.#focused());
    else this.#controlOf(what)?.focus();
  }

  #controlOf(id: 'find' | 'steer'): HTMLElement | null {
    return document.getElementById(id);
  }

  #clicked(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target.closest<HTMLElement>('a, [data-action]') : null;
    if (!target) return;
    const row = target.closest<HTMLElement>('.row');
    if (target.localName === 'a') {
      // The editor's own handling of links would open it a second time.
      event.preventDefault();
      event.stopPropagation();
      const { path, line } = target.dataset;
      const href = target.getAttribute('href') ?? '';
      if (path) this.#bridge.post({ type: 'open.file', path, line: line ? Number(line) : null });
      else if (isWebLink(href)) this.#bridge.post({ type: 'open.link', url: href });
    } else if (target.dataset['action'] === 'copy-code') {
      this.#copy(target.parentElement?.querySelector('pre')?.textContent ?? '');
    } else if (target.dataset['action'] === 'copy-item' && row) {
      this.#copyItem(row);
    }
  }

  #copyItem(row: HTMLElement): void {
    const item = this.#window.get(row.dataset['key'] ?? '');
    if (item) this.#copy(plainText(item));
  }

  #copy(text: string): void {
    this.#bridge.post({ type: 'copy', text });
    this.#announcer.say('copied', this.#words.text('item.copied'));
  }

  #answer(questionId: string, answer: QuestionAnswer): void {
    this.#answering.add(questionId);
    this.#problems.delete(questionId);
    const request = this.#bridge.request({ type: 'answer', questionId, answer }, (message) => {
      this.#bridge.forget(request);
      if (message.type === 'failed') this.#problems.set(questionId, message.error.message);
      else if (message.type === 'receipt' && (message.state === 'refused' || message.state === 'failed'))
        this.#problems.set(questionId, message.message ?? this.#words.text('receipt.refused'));
      if (this.#problems.has(questionId)) this.#answering.delete(questionId);
      this.#draw();
    });
    this.#draw();
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
      command: (name) => this.#bridge.post({ type: 'command', name }),
    };
  }

  #redrawRows(): void {
    this.#rows.invalidate();
    this.#draw();
  }

  #setTrouble(trouble: Trouble | null): void {
    this.#trouble = trouble;
    this.#draw();
  }

  #drawAll(): void {
    const act = {
      command: (name: HeadCommand) => this.#bridge.post({ type: 'command', name }),
      find: () => this.#focus('find'),
    };
    const { head, trouble, find, scroller, empty, top, jump, foot } = this.#parts;
    const words = this.#words;
    const noItems = this.#window.items.length === 0;
    render(this.#head ? headView(this.#head, Date.now(), words, act) : nothing, head);
    render(
      troubleView(this.#trouble, words, () => this.#setTrouble(null)),
      trouble,
    );
    render(
      findBox(this.#find, words, () => this.#closeFind()),
      find,
    );
    render(noItems ? emptyView(this.#head, words, act) : nothing, empty);
    render(this.#list.following || noItems ? nothing : jumpButton(this.#fresh, words, () => this.#toEnd()), jump);
    render(this.#head ? this.#footView(this.#head, act.command) : nothing, foot);
    scroller.hidden = noItems;
    const before = this.#paging.isAsking('before') ? 'loading' : this.#window.before === null ? 'beginning' : 'more';
    render(topLine(this.#head === null ? 'none' : before, words), top);
    this.#parts.block.setAttribute('aria-busy', String(this.#paging.isAsking('before', 'after', 'around', 'tail')));
    this.#list.draw();
    this.#tick();
  }

  #footView(head: PanelHead, command: (name: HeadCommand) => void): unknown[] {
    const questions = {
      isAnswering: (id: string) => this.#answering.has(id),
      problem: (id: string) => this.#problems.get(id) ?? null,
      answer: (id: string, answer: QuestionAnswer) => this.#answer(id, answer),
    };
    return [
      head.questions.length === 0
        ? nothing
        : html`<div class="questions">
            ${head.questions.map((question) => questionCard(question, this.#words, questions))}
          </div>`,
      steerBox(head, this.#steering, this.#words, {
        resume: () => command('resume'),
        again: (id) => {
          this.#steering.again(id);
          this.#focus('steer');
        },
      }),
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
