/** Fields of a header, each by its kind. What is wrong with one is kept, and that field counts as not there. */
import { isAlias, isScalar } from 'yaml';
import type * as z from 'zod/mini';
import { type AgentProblem, agentProblem, cutText, describeFaults } from '../../protocol/index.ts';
import { BadReference, type Found, type Header, type HeaderField, toData } from './header.ts';
import { commaList, type Span, unquoted } from './header-lines.ts';

interface Data {
  data: unknown;
  /** A scalar as it is written. */
  source?: string;
}
interface Plain {
  plain: string | string[];
}
/** What a field is read as; `empty`: absent, or with nothing in it; `bad`: it cannot be, and has been complained about. */
type Read = Data | Plain | 'empty' | 'bad';

const SHOWN = 80;

export function shown(value: unknown): string {
  return cutText(JSON.stringify(value) ?? String(value), SHOWN);
}

export class FieldReader {
  readonly found: Found[];
  readonly #text: string;
  readonly #fields: ReadonlyMap<string, HeaderField>;
  readonly #opening: Span;

  /** @param opening where the header begins: the place of what is missing */
  constructor(text: string, { fields, found }: Header, opening: Span) {
    this.#text = text;
    this.#opening = opening;
    this.#fields = fields;
    this.found = [...found];
  }

  has(name: string): boolean {
    return this.#fields.has(name);
  }

  /** Keeps a problem at the value of the field, or at its name where there is no value. */
  complain(name: string, problem: AgentProblem): undefined {
    const field = this.#fields.get(name);
    const span = field && field.span.end > field.span.start ? field.span : field?.key;
    this.found.push({ problem: { ...problem, field: name }, span: span ?? this.#opening });
    return undefined;
  }

  /** A text without spaces around it; `undefined` when there is none. */
  text(name: string): string | undefined {
    const read = this.#read(name);
    if (typeof read === 'string') return undefined;
    const field = this.#fields.get(name);
    if ('plain' in read) {
      const value = typeof read.plain === 'string' ? read.plain : read.plain.join(', ');
      this.#mended(name);
      return value.trim() || undefined;
    }
    let value = scalarText(read);
    if (value === undefined && field) {
      // `[draft] Reviews code` is a list to YAML; whoever wrote it meant the words.
      const source = this.#text.slice(field.span.start, field.span.end);
      if (source.includes('\n')) return this.complain(name, agentProblem('field_invalid:text', { field: name }));
      value = source;
    }
    const text = (value ?? '').replaceAll('\r\n', '\n').trim();
    this.#compare(name, text);
    return text || undefined;
  }

  /** `a, b`, or a list; empty when the field is there with nothing in it. */
  list(name: string): string[] | undefined {
    if (!this.has(name)) return undefined;
    const read = this.#read(name, 'list');
    if (typeof read === 'string') return read === 'empty' ? [] : undefined;
    const items = 'plain' in read ? plainItems(read.plain) : dataItems(read);
    if (!items) return this.complain(name, agentProblem('field_invalid:list', { field: name }));
    if ('plain' in read) this.#mended(name);
    else this.#compare(name, items);
    return items;
  }

  /** True or false; anything else is an error. */
  flag(name: string): boolean | undefined {
    const read = this.#scalar(name);
    if (read === undefined) return undefined;
    if (read === 'true' || read === 'false') return read === 'true';
    return this.complain(name, agentProblem('field_invalid:boolean', { field: name, value: cutText(read, SHOWN) }));
  }

  /** True or false; anything else counts as `usual`, with a warning. */
  lenientFlag(name: string, usual: boolean): boolean | undefined {
    const read = this.#scalar(name);
    if (read === undefined) return undefined;
    if (read === 'true' || read === 'false') return read === 'true';
    this.complain(
      name,
      agentProblem('field_ignored:boolean', { field: name, value: cutText(read, SHOWN), used: String(usual) }),
    );
    return usual;
  }

  option<const T extends string>(
    name: string,
    allowed: readonly T[],
    kind: 'field_invalid' | 'field_ignored',
  ): T | undefined {
    const read = this.#scalar(name);
    if (read === undefined) return undefined;
    const option = allowed.find((one) => one === read);
    if (option !== undefined) return option;
    return this.complain(
      name,
      agentProblem(`${kind}:option`, { field: name, value: cutText(read, SHOWN), allowed: allowed.join(', ') }),
    );
  }

  whole(
    name: string,
    { least, most }: { least: number; most: number },
    kind: 'field_invalid' | 'field_ignored',
  ): number | undefined {
    const read = this.#scalar(name);
    if (read === undefined) return undefined;
    const value = /^\d+$/.test(read) ? Number(read) : Number.NaN;
    if (value >= least && value <= most) return value;
    return this.complain(
      name,
      agentProblem(`${kind}:whole`, { field: name, value: cutText(read, SHOWN), least, most }),
    );
  }

  /** A value of any shape that a schema checks. A text that is JSON of an object is one. */
  shaped<T>(
    name: string,
    schema: z.ZodMiniType<T>,
    kind: 'field_invalid' | 'field_ignored' = 'field_invalid',
  ): T | undefined {
    const read = this.#read(name, 'data');
    if (typeof read === 'string' || 'plain' in read) return undefined;
    const parsed = schema.safeParse(parsedJson(read.data));
    if (parsed.success) return parsed.data;
    return this.complain(
      name,
      agentProblem(`${kind}:shape`, { field: name, faults: describeFaults(parsed.error).replace(/^the value: /, '') }),
    );
  }

  /** A scalar as it is written, without quotes. */
  #scalar(name: string): string | undefined {
    const read = this.#read(name, 'data');
    if (typeof read === 'string' || 'plain' in read) return undefined;
    const value = scalarText(read) ?? JSON.stringify(read.data);
    this.#compare(name, value);
    return value.trim() === '' ? undefined : value.trim();
  }

  /** @param as what is made of a value that is no YAML: its lines, where the field is a text or a plain list; else an error */
  #read(name: string, as: 'text' | 'list' | 'data' = 'text'): Read {
    const field = this.#fields.get(name);
    if (!field) return 'empty';
    if (field.value.kind === 'yaml') {
      try {
        const data = toData(field.value);
        const { node } = field.value;
        const source = isScalar(node) && !isAlias(node) ? node.source : undefined;
        return data === null && (source === undefined || source === '')
          ? 'empty'
          : { data, ...(source === undefined ? {} : { source }) };
      } catch (error) {
        if (!(error instanceof BadReference)) throw error;
        return this.#fallBack(field, as, error.message, field.span);
      }
    }
    return this.#fallBack(field, as, field.value.reason, field.value.at);
  }

  #fallBack({ name, lines, value }: HeaderField, as: 'text' | 'list' | 'data', reason: string, at: Span): Read {
    const plain = value.kind === 'plain' ? value.value : lines?.plain;
    const opens = lines === undefined || /^[[{]/.test(lines.inline);
    if (plain === undefined || as === 'data' || (as === 'list' && opens)) {
      const problem = { ...agentProblem('yaml_invalid', { field: name, reason }), field: name };
      this.found.push({ problem, span: at });
      return 'bad';
    }
    return { plain };
  }

  #mended(name: string): void {
    const { value } = this.#fields.get(name) ?? {};
    const reason = value?.kind === 'plain' ? value.reason : 'it refers to what is not there';
    this.complain(name, agentProblem('yaml_mended', { field: name, reason }));
  }

  /** Says when a program that reads the line as it stands takes it for something else. */
  #compare(name: string, ours: string | string[]): void {
    const lines = this.#fields.get(name)?.lines;
    if (!lines || lines.inline === '' || /^[>|]/.test(lines.inline)) return;
    const theirs = unquoted(lines.inline);
    const same =
      typeof ours === 'string'
        ? words(ours) === words(theirs)
        : JSON.stringify(ours) === JSON.stringify(commaList(theirs));
    if (!same) this.complain(name, agentProblem('yaml_differs', { field: name, value: shown(theirs) }));
  }
}

const words = (text: string) => text.split(/\s+/).filter(Boolean).join(' ');

function scalarText({ data, source }: Data): string | undefined {
  if (typeof data === 'string') return data;
  if (data === null) return '';
  if (typeof data !== 'object') return source ?? String(data);
  return undefined;
}

function plainItems(plain: string | string[]): string[] {
  return typeof plain === 'string' ? commaList(plain) : plain;
}

function dataItems(read: Data): string[] | undefined {
  const text = scalarText(read);
  if (text !== undefined) return commaList(text);
  if (!Array.isArray(read.data)) return undefined;
  const items = read.data.map((item: unknown) => scalarText({ data: item }));
  if (items.some((item) => item === undefined)) return undefined;
  return items.flatMap((item = '') => (item.trim() === '' ? [] : [item.trim()]));
}

function parsedJson(data: unknown): unknown {
  if (typeof data !== 'string' || !data.trimStart().startsWith('{')) return data;
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}
