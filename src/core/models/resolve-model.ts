/**
 * Which usable model somebody means. Pure. Exact names come first, then ids, then other spellings of an id; never another
 * provider than the one that was named, and never a guess between several.
 */
import { describeError, type ErrorValue } from '../../protocol/index.ts';
import { nearestModel } from './nearest-model.ts';
import { splitLevel, type ThinkingLevel } from './thinking-level.ts';

/** A model as a registry has it. */
export interface ModelEntry {
  provider: string;
  id: string;
  /** `provider/id` */
  fullId: string;
}

/**
 * Who names the model. `explicit`: for this run; `configured`: agent or settings; `fallback`: for when another fails; `inherited`: it
 * is that of the parent.
 */
export type ModelSource = 'explicit' | 'configured' | 'fallback' | 'inherited';

export interface ModelRequest<M extends ModelEntry = ModelEntry> {
  /** `provider/id`, `provider:id`, `provider.id` or an id, with an optional `:level`. */
  request: string;
  registry: readonly M[];
  /** Decides between several providers that have the id. */
  preferredProvider?: string | undefined;
  /** Default: explicit. It is handed back with the answer, and changes nothing about it. */
  source?: ModelSource | undefined;
}

/** How the request led to the model. `unchecked`: the registry is empty, and the request was taken as it stands. */
export type ModelMatch = 'exact' | 'id' | 'spelling' | 'unchecked';

export type ModelResolution<M extends ModelEntry = ModelEntry> =
  | {
      ok: true;
      /** `provider/id` without a level. */
      model: string;
      /** The level behind the request. */
      thinking: ThinkingLevel | undefined;
      /** Both, as Pi takes them. */
      full: string;
      match: ModelMatch;
      /** Absent only when unchecked. */
      entry?: M;
      source: ModelSource;
    }
  | {
      ok: false;
      /** `model_unknown` with the nearest name in its hint, or `model_ambiguous` with all that could be meant. */
      error: ErrorValue;
      /** Full ids that could be meant. */
      candidates: string[];
      source: ModelSource;
    };

export function resolveModel<M extends ModelEntry>(request: ModelRequest<M>): ModelResolution<M> {
  const { registry, preferredProvider, source = 'explicit' } = request;
  const asked = request.request.trim();
  if (registry.length === 0 && asked !== '') {
    const { model, thinking } = splitLevel(asked);
    return { ok: true, model, thinking, full: asked, match: 'unchecked', source };
  }
  // A level is also taken for a part of the id, when there is such an id.
  const { model: bare, thinking } = splitLevel(asked);
  const readings = [
    { text: asked, thinking: undefined },
    ...(thinking === undefined ? [] : [{ text: bare, thinking }]),
  ];
  let ambiguous: readonly M[] = [];
  for (const { text, thinking: level } of readings) {
    const { entries, match } = meant(text, registry, preferredProvider);
    const [entry] = entries;
    if (entry && entries.length === 1) {
      const full = level === undefined ? entry.fullId : `${entry.fullId}:${level}`;
      return { ok: true, model: entry.fullId, thinking: level, full, match, entry, source };
    }
    if (entry) ambiguous = entries;
  }
  if (ambiguous.length > 0) {
    const candidates = ambiguous.map(({ fullId }) => fullId);
    const error = describeError('model_ambiguous', { name: asked, names: candidates.join(', ') });
    return { ok: false, error, candidates, source };
  }
  const near = nearestModel(
    asked,
    registry.map(({ fullId }) => fullId),
  );
  const error =
    near === undefined
      ? describeError('model_unknown', { name: asked })
      : describeError('model_unknown:near', { name: asked, near });
  return { ok: false, error, candidates: near === undefined ? [] : [near], source };
}

interface Meant<M> {
  entries: readonly M[];
  match: ModelMatch;
}

function meant<M extends ModelEntry>(text: string, registry: readonly M[], preferred: string | undefined): Meant<M> {
  const exact = registry.find(({ fullId }) => fullId === text);
  if (exact) return { entries: [exact], match: 'exact' };
  const qualified = splitProvider(text, registry);
  const within = qualified ? registry.filter(({ provider }) => plain(provider) === qualified.provider) : registry;
  const id = qualified?.id ?? text;
  const rules: [ModelMatch, (entry: M) => boolean][] = [
    ['id', (entry) => entry.id === id],
    ['spelling', (entry) => plain(entry.id) === plain(id)],
    ['spelling', (entry) => differsByDate(entry.id, id)],
  ];
  for (const [match, fits] of rules) {
    const entries = within.filter(fits);
    if (entries.length === 0) continue;
    const own = preferred === undefined ? [] : entries.filter(({ provider }) => plain(provider) === plain(preferred));
    return { entries: own.length === 1 ? own : entries, match };
  }
  return { entries: [], match: 'exact' };
}

/** Only the name of a provider that there is makes what stands before the first `/`, `:` or `.` one: ids have them too. */
function splitProvider(text: string, registry: readonly ModelEntry[]): { provider: string; id: string } | undefined {
  const providers = new Set(registry.map(({ provider }) => plain(provider)));
  for (const mark of ['/', ':', '.']) {
    const at = text.indexOf(mark);
    const provider = plain(text.slice(0, Math.max(0, at)));
    if (at > 0 && at < text.length - 1 && providers.has(provider)) return { provider, id: text.slice(at + 1) };
  }
  return undefined;
}

/** Spellings that mean the same have the same plain form. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[._]/g, '-').replace(/-{2,}/g, '-');
}

/** Providers name releases by their date: `-20250514`, `-2025-05-14`, `@20250514`. */
const DATE = /[-@](?:19|20)\d{2}(-?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])$/;

/** One of the two has no date. Two dates are two models. */
function differsByDate(one: string, other: string): boolean {
  const [a, b] = [plain(one), plain(other)];
  return a !== b && (a.replace(DATE, '') === b || a === b.replace(DATE, ''));
}
