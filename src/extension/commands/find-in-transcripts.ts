/** Find in Transcripts…: one box for the transcripts of all runs of the project; its rows come while they are searched. */
import * as vscode from 'vscode';
import { visible } from '../../core/transcripts/index.ts';
import { cutText, type FindHit } from '../../protocol/index.ts';
import { plainLabel } from '../plain-label.ts';
import type { Services } from '../services.ts';
import { type Found, MAX_HITS_SHOWN, type SearchReport, searchTranscripts } from '../transcripts/search-transcripts.ts';
import { runTitle } from '../trees/runs/run-words.ts';

const TYPING_MS = 250;
/** Rows are drawn anew at most this often while they come. */
const DRAW_MS = 150;
const MAX_TITLE = 44;

interface HitItem extends vscode.QuickPickItem {
  found?: Found;
  hit?: FindHit;
  /** The so-manieth of its item in the transcript, from 0. */
  occurrence?: number;
}

export async function findInTranscripts(services: Services): Promise<void> {
  const box = vscode.window.createQuickPick<HitItem>();
  const search = new BoxSearch(services, box);
  try {
    box.title = vscode.l10n.t('Find in Transcripts');
    box.placeholder = vscode.l10n.t('Text to look for in the transcripts of all runs');
    box.matchOnDetail = true;
    box.keepScrollPosition = true;
    const chosen = await new Promise<HitItem | undefined>((resolve) => {
      box.onDidChangeValue(() => search.startSoon());
      box.onDidAccept(() => {
        const item = box.selectedItems[0];
        if (item?.hit) resolve(item);
      });
      box.onDidHide(() => resolve(undefined));
      box.show();
    });
    const { found, hit, occurrence = 0 } = chosen ?? {};
    if (!found || !hit) return;
    const { snapshot, child } = found;
    const query = search.query;
    services.panels.show({ kind: 'run', directory: snapshot.directory, child }, { query, hit, occurrence });
    services.seen.markSeen([snapshot]);
  } finally {
    search.end();
    box.dispose();
  }
}

/** The search behind the box: what is typed ends the one before. */
class BoxSearch {
  readonly #services: Services;
  readonly #box: vscode.QuickPick<HitItem>;
  #running: AbortController | undefined;
  #typing: NodeJS.Timeout | undefined;
  #drawing: NodeJS.Timeout | undefined;
  #report: SearchReport | undefined;
  query = '';

  constructor(services: Services, box: vscode.QuickPick<HitItem>) {
    this.#services = services;
    this.#box = box;
  }

  startSoon(): void {
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => this.start(), TYPING_MS);
  }

  start(): void {
    const query = this.#box.value.trim();
    if (query === this.query) return;
    this.end();
    this.query = query;
    this.#box.items = [];
    if (query === '') return;
    this.#box.busy = true;
    const running = new AbortController();
    this.#running = running;
    void this.#search(query, running.signal);
  }

  async #search(query: string, signal: AbortSignal): Promise<void> {
    const { runs, panels, log } = this.#services;
    try {
      await searchTranscripts(await runs.every(), query, {
        search: (files, text, limit, ending) => panels.search(files, text, limit, ending),
        signal,
        onReport: (report) => this.#take(report),
        onUnread: (runId, error) => log.warn(`${runId}: ${error instanceof Error ? error.message : error}`),
      });
    } catch (error) {
      if (signal.aborted) return;
      log.error(`${error instanceof Error ? error.message : error}`);
      this.#box.busy = false;
      this.#box.items = [plainRow(vscode.l10n.t('The runs cannot be read. Show Output says why.'))];
    }
  }

  #take(report: SearchReport): void {
    this.#report = report;
    if (report.done) this.#draw();
    else this.#drawing ??= setTimeout(() => this.#draw(), DRAW_MS);
  }

  #draw(): void {
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    const report = this.#report;
    if (!report) return;
    const box = this.#box;
    const active = box.activeItems[0];
    const hits = report.found.flatMap(itemsOf);
    box.items = [...hits, ...notesOf(report, hits.length, this.query)];
    // The row somebody has moved to stays under the cursor while others come.
    const same = hits.find(({ found, hit }) => active?.hit === hit && active?.found?.snapshot === found?.snapshot);
    if (same) box.activeItems = [same];
    box.busy = !report.done;
  }

  end(): void {
    clearTimeout(this.#typing);
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    this.#report = undefined;
    this.#running?.abort();
    this.#running = undefined;
    this.#box.busy = false;
    this.query = '';
  }
}

function itemsOf(found: Found): HitItem[] {
  const { snapshot, hits } = found;
  const { view } = snapshot;
  const started = new Intl.DateTimeFormat(vscode.env.language, { dateStyle: 'medium', timeStyle: 'short' });
  return hits.map((hit, index) => {
    const { icon, word } = placeOf(hit);
    return {
      label: plainLabel(cutTitle(runTitle(snapshot))),
      description: [word, view?.agent, view ? started.format(view.createdAt) : undefined].filter(Boolean).join(' · '),
      detail: plainLabel(excerptText(hit)),
      iconPath: new vscode.ThemeIcon(icon),
      alwaysShow: true,
      found,
      hit,
      occurrence: hits.slice(0, index).filter(({ key }) => key === hit.key).length,
    };
  });
}

/** What stands behind it in the row is to be seen, too. */
function cutTitle(title: string): string {
  return title.length > MAX_TITLE ? `${cutText(title, MAX_TITLE).trimEnd()}…` : title;
}

/** The place in one line. */
function excerptText({ excerpt }: FindHit): string {
  return visible(excerpt).replace(/\s+/g, ' ').trim();
}

/** What the hit stands in, as a person calls it. */
function placeOf({ kind, tool }: FindHit): { icon: string; word: string } {
  switch (kind) {
    case 'user':
      return { icon: 'account', word: vscode.l10n.t('message') };
    case 'text':
      return { icon: 'comment', word: vscode.l10n.t('answer') };
    case 'thinking':
      return { icon: 'lightbulb', word: vscode.l10n.t('thought') };
    case 'tool':
      return { icon: 'tools', word: plainLabel(visible(tool ?? '')) };
    case 'compaction':
      return { icon: 'fold', word: vscode.l10n.t('summary') };
    default:
      return { icon: 'info', word: vscode.l10n.t('note') };
  }
}

/** Rows that say what the others do not. */
function notesOf({ done, cut, unread, total }: SearchReport, hits: number, query: string): HitItem[] {
  const notes: string[] = [];
  if (cut)
    notes.push(vscode.l10n.t('Only the first {0} places are shown. Type more to narrow it down.', MAX_HITS_SHOWN));
  else if (done && total === 0) notes.push(vscode.l10n.t('There are no runs here yet.'));
  else if (done && hits === 0) notes.push(vscode.l10n.t('No transcript has "{0}" (runs searched: {1}).', query, total));
  if (done && unread > 0)
    notes.push(vscode.l10n.t('Transcripts that could not be read: {0}. Show Output says which.', unread));
  return notes.map(plainRow);
}

function plainRow(text: string): HitItem {
  return { label: plainLabel(text), alwaysShow: true };
}
