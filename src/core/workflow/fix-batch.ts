/** Fixes of batch results that are read by key. */
import type { AnyNode, Identifier, MemberExpression, ObjectPattern } from 'acorn';
import { say } from '../../protocol/index.ts';
import type { Fix } from './fix-fields.ts';
import type { Script } from './script.ts';
import { keyName } from './syntax-tree.ts';

interface DestructureRequest {
  origin: AnyNode;
  places: ReadonlyMap<string, number>;
  complete: boolean;
  reads: readonly { name: string; node: AnyNode }[];
  /** Every use of the names that hold the result. */
  names: readonly Identifier[];
  /** Uses that are no read by key. */
  others: number;
}

/**
 * `const r = await runs.all([…])` with nothing but reads by key becomes `const [scan, fix] = …`, and each read the name.
 */
export function destructure(script: Script, request: DestructureRequest): Fix | undefined {
  const { origin, places, complete, reads, names, others } = request;
  const declarator = script.tree.parent(origin);
  const declaration = declarator && script.tree.parent(declarator);
  if (declarator?.type !== 'VariableDeclarator' || declaration?.type !== 'VariableDeclaration') return undefined;
  const { id } = declarator;
  if (id.type !== 'Identifier' || !complete || others > 0) return undefined;
  // Each use is one of the reads, so nothing is left that needs the array.
  if (reads.length !== names.length || reads.some(({ name }) => !places.has(name))) return undefined;
  const taken: string[] = [];
  const nameByKey = new Map<string, string>();
  for (const { name } of reads) {
    if (nameByKey.has(name)) continue;
    let chosen = script.freshName(identifierFor(name));
    while (taken.includes(chosen)) chosen = `${chosen}_`;
    taken.push(chosen);
    nameByKey.set(name, chosen);
  }
  const size = Math.max(...[...nameByKey.keys()].map((key) => places.get(key) ?? 0)) + 1;
  const parts = Array.from({ length: size }, (_, place) => {
    const key = [...nameByKey.keys()].find((candidate) => places.get(candidate) === place);
    return key === undefined ? '' : (nameByKey.get(key) ?? '');
  });
  const edits = [
    { start: id.start, end: id.end, text: `[${parts.join(', ')}]` },
    ...reads.map(({ name, node }) => ({ start: node.start, end: node.end, text: nameByKey.get(name) ?? '' })),
  ];
  return { kind: 'destructure_batch', title: say('fix:destructure_batch'), safe: true, edits };
}

/** `const {scan, fix: done} = await runs.all([…])` becomes `const [scan, done] = …`. */
export function destructurePattern(
  script: Script,
  pattern: ObjectPattern,
  places: ReadonlyMap<string, number>,
): Fix | undefined {
  const parts: string[] = [];
  for (const property of pattern.properties) {
    const name = property.type === 'Property' ? keyName(property) : undefined;
    const place = name === undefined ? undefined : places.get(name);
    if (property.type !== 'Property' || place === undefined || parts[place] !== undefined) return undefined;
    parts[place] = script.source(property.value);
  }
  const text = `[${Array.from(parts, (part) => part ?? '').join(', ')}]`;
  const edits = [{ start: pattern.start, end: pattern.end, text }];
  return { kind: 'destructure_batch', title: say('fix:destructure_batch'), safe: true, edits };
}

/** `results.scan` becomes `results[0]`. */
export function indexRead(script: Script, { node }: { node: AnyNode }, place: number): Fix | undefined {
  if (node.type !== 'MemberExpression') return undefined;
  const { end } = afterObject(script, node);
  const edits = [{ start: end, end: node.end, text: `${node.optional ? '?.' : ''}[${place}]` }];
  return { kind: 'index_batch', title: say('fix:index_batch', { place }), safe: true, edits };
}

/** The end of the object with the parentheses around it: `(await runs.all([…]))`. */
function afterObject(script: Script, node: MemberExpression): { end: number } {
  let { end } = node.object;
  for (let next = /^\s*\)/.exec(script.text.slice(end, node.property.start)); next; ) {
    end += next[0].length;
    next = /^\s*\)/.exec(script.text.slice(end, node.property.start));
  }
  return { end };
}

const RESERVED =
  /^(?:arguments|await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|eval|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|with|yield|runs|emit|state|console)$/;

/** A variable name made of a key: `scan-api.2` becomes `scanApi2`. */
function identifierFor(key: string): string {
  const camel = key.replace(/[._-]+(.?)/g, (_, next: string) => next.toUpperCase());
  const name = /^\d/.test(camel) ? `result${camel}` : camel;
  return RESERVED.test(name) || name === '' ? `${name}Result` : name;
}
