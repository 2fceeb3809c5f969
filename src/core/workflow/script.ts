/** One script as the rules see it: its tree, its names, the calls of `runs` in it, and where findings go. */
import type { AnyNode, CallExpression, Expression, Identifier, MemberExpression, Program, SpreadElement } from 'acorn';
import {
  type Finding,
  type FindingCode,
  type RunsMember,
  say,
  type TextRange,
  type Words,
} from '../../protocol/index.ts';
import type { TextPositions } from '../text-positions/index.ts';
import { Certainty } from './certainty.ts';
import type { Fix } from './fix-fields.ts';
import type { JsonRules } from './literals.ts';
import { Scopes } from './scopes.ts';
import { propertyName, SyntaxTree } from './syntax-tree.ts';
import { toFinding } from './to-finding.ts';

export interface ApiCall {
  member: string;
  node: CallExpression;
}

export interface TextEdit {
  start: number;
  end: number;
  text: string;
}

export interface Span {
  start: number;
  end: number;
}

interface FindingDetails {
  related?: { at: Span; message: Words }[] | undefined;
  fix?: Fix | undefined;
}

/** More are not listed one by one. */
const MAX_FINDINGS = 500;

const LAUNCHING: ReadonlySet<string> = new Set<RunsMember>(['run', 'all', 'lanes']);
const PROMISING: ReadonlySet<string> = new Set<RunsMember>(['run', 'all', 'lanes', 'host', 'steer', 'status']);

export class Script {
  readonly text: string;
  readonly tree: SyntaxTree;
  readonly scopes: Scopes;
  readonly positions: TextPositions;
  /** Direct calls `runs.name(…)`, in the order of the text. */
  readonly calls: ApiCall[] = [];
  /** Whether `runs` or one of its members goes where it cannot be followed, so that there may be further calls. */
  readonly runsEscapes: boolean;
  readonly #findings: { finding: Finding; places: number[] }[] = [];
  readonly #unreached: Span[] = [];
  #certainty: Certainty | undefined;
  #names: Set<string> | undefined;
  readonly #callees = new Map<CallExpression, string>();

  constructor(text: string, program: Program, positions: TextPositions) {
    this.text = text;
    this.positions = positions;
    this.tree = new SyntaxTree(program);
    this.scopes = new Scopes(this.tree);
    let escapes = false;
    for (const use of this.scopes.globals.get('runs') ?? []) {
      const call = this.#callOf(use);
      if (call) {
        this.calls.push(call);
        this.#callees.set(call.node, call.member);
      } else escapes = true;
    }
    this.runsEscapes = escapes || this.#isReplaced();
    if (this.#isReplaced()) {
      this.calls.length = 0;
      this.#callees.clear();
    }
  }

  /** Whether the script gives the global `runs` another value. */
  #isReplaced(): boolean {
    return (this.scopes.globals.get('runs') ?? []).some((use) => this.scopes.isWritten(use));
  }

  #callOf(use: Identifier): ApiCall | undefined {
    const member = this.tree.parent(use);
    if (member?.type !== 'MemberExpression' || member.object !== use) return undefined;
    const name = propertyName(member);
    if (name === undefined) return undefined;
    // `(runs?.run)("k")` has a chain between callee and call.
    const around = this.tree.parent(member);
    const callee: AnyNode = around?.type === 'ChainExpression' ? around : member;
    const call = this.tree.parent(callee);
    return call?.type === 'CallExpression' && call.callee === callee ? { member: name, node: call } : undefined;
  }

  /** The member of `runs` that a node calls, if it is such a call. */
  memberCalled(node: AnyNode): string | undefined {
    return node.type === 'CallExpression' ? this.#callees.get(node) : undefined;
  }

  /** Whether a node is a call of `runs` that gives a promise. */
  isPromise(node: AnyNode): boolean {
    return PROMISING.has(this.memberCalled(node) ?? '');
  }

  isLaunch(node: AnyNode): boolean {
    return LAUNCHING.has(this.memberCalled(node) ?? '');
  }

  /** Direct calls of a global: `emit(…)`, and of a member of one: `state.set(…)`. */
  globalCalls(name: string, member?: string): CallExpression[] {
    const calls: CallExpression[] = [];
    for (const use of this.scopes.globals.get(name) ?? []) {
      let callee: AnyNode = use;
      if (member !== undefined) {
        const access = this.tree.parent(use);
        if (access?.type !== 'MemberExpression' || access.object !== use || propertyName(access) !== member) continue;
        callee = access;
      }
      const call = this.tree.parent(callee);
      if (call?.type === 'CallExpression' && call.callee === callee) calls.push(call);
    }
    return calls;
  }

  isGlobal(node: AnyNode, name?: string): boolean {
    return node.type === 'Identifier' && (name === undefined || node.name === name) && this.scopes.isGlobal(node);
  }

  jsonRules(undefinedIsFine: boolean): JsonRules {
    return {
      undefinedIsFine,
      isGlobal: (node) => this.isGlobal(node),
      isPromise: (node) => this.isPromise(node),
    };
  }

  source(node: Span): string {
    return this.text.slice(node.start, node.end);
  }

  rangeOf(at: Span): TextRange {
    return this.positions.range(at.start, at.end);
  }

  /** A name that nothing in the script has or uses. */
  freshName(wanted: string): string {
    this.#names ??= new Set([...this.scopes.globals.keys(), ...this.scopes.bindings.map(({ name }) => name)]);
    let name = wanted;
    for (let number = 2; this.#names.has(name); number += 1) name = `${wanted}${number}`;
    return name;
  }

  report(code: FindingCode, at: Span, message: Words, { related, fix }: FindingDetails = {}): void {
    const finding = toFinding({
      code,
      message,
      range: this.rangeOf(at),
      related: related?.map((entry) => ({ range: this.rangeOf(entry.at), message: entry.message })),
      fix: fix && {
        ...fix,
        edits: fix.edits.map(({ start, end, text }) => ({ ...this.rangeOf({ start, end }), text })),
      },
    });
    this.#findings.push({ finding, places: [at.start, ...(related ?? []).map((entry) => entry.at.start)] });
  }

  /** Code that no run reaches: what would fail there does not, so it is no error. */
  neverRuns(spans: readonly Span[]): void {
    this.#unreached.push(...spans);
  }

  /**
   * Nested async is refused by the language itself, wherever it stands. Every other mistake must be reached to fail, and so must
   * the places that explain it: where that is not sure it is a warning, where it is impossible it is nothing.
   */
  #judge({ finding, places }: { finding: Finding; places: number[] }): Finding | undefined {
    if (finding.severity !== 'error' || finding.code === 'nested_async') return finding;
    const [at = 0] = places;
    if (this.#unreached.some(({ start, end }) => at >= start && at < end)) return undefined;
    return places.every((place) => this.isSure(place)) ? finding : { ...finding, severity: 'warning' };
  }

  /** Whether what stands at this offset is surely come to, and nothing catches its failure. */
  isSure(at: number): boolean {
    this.#certainty ??= new Certainty(this.tree, this.scopes);
    return this.#certainty.isSure(at);
  }

  /** Everything reported, in the order of the text, each once. */
  findings(): Finding[] {
    const seen = new Set<string>();
    const sorted = this.#findings
      .toSorted((a, b) => (a.places[0] ?? 0) - (b.places[0] ?? 0))
      .map((entry) => this.#judge(entry))
      .filter((finding) => finding !== undefined)
      .filter(({ message, line, column }) => {
        const id = JSON.stringify([message, line, column]);
        return !seen.has(id) && seen.add(id);
      });
    if (sorted.length <= MAX_FINDINGS) return sorted;
    // Errors first: whether the script is right must not depend on how many warnings stand before.
    const errors = sorted.filter(({ severity }) => severity === 'error');
    const kept = [...errors, ...sorted.filter(({ severity }) => severity === 'warning')].slice(0, MAX_FINDINGS);
    const left = sorted.length - kept.length;
    const message = say('findings_left_out', { count: left });
    return [...kept, toFinding({ code: 'findings_left_out', message, range: this.rangeOf({ start: 0, end: 0 }) })];
  }
}

/** The arguments that surely stand at their places: those before a spread. */
export function plainArguments(call: CallExpression): Expression[] {
  const spread = call.arguments.findIndex((argument) => argument.type === 'SpreadElement');
  const plain = spread === -1 ? call.arguments : call.arguments.slice(0, spread);
  return plain.filter((argument): argument is Exclude<Expression, SpreadElement> => argument.type !== 'SpreadElement');
}

export function hasSpread(call: CallExpression): boolean {
  return call.arguments.some((argument) => argument.type === 'SpreadElement');
}

/** `?.` calls and reads are wrapped once more; this is the expression as a whole. */
export function wholeExpression(tree: SyntaxTree, node: AnyNode): AnyNode {
  const parent = tree.parent(node);
  return parent?.type === 'ChainExpression' ? parent : node;
}

export function isMember(node: AnyNode | undefined): node is MemberExpression {
  return node?.type === 'MemberExpression';
}
