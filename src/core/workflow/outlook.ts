/** What a script will ask for, as far as its text tells: children, commands and inputs. */
import type { AnyNode, CallExpression, ObjectExpression } from 'acorn';
import {
  cutText,
  type ForeseenChild,
  type ForeseenChildren,
  type ForeseenHost,
  type ScriptOutlook,
} from '../../protocol/index.ts';
import { inputsOf } from './inputs.ts';
import type { Launch, Launches } from './launches.ts';
import { fieldsOf } from './literals.ts';
import { textField } from './outline.ts';
import { plainArguments, type Script } from './script.ts';
import { plainText } from './syntax-tree.ts';

/** More are not listed one by one. */
const MAX_ENTRIES = 500;
const MAX_SOURCE_CHARS = 200;

export function outlookOf(script: Script, { launches, complete }: Launches): ScriptOutlook {
  const children = childrenIn(script, launches);
  const more = moreIn(script, launches);
  const hosts = hostsIn(script);
  return {
    inputs: inputsOf(script),
    children: children.slice(0, MAX_ENTRIES),
    more: more.slice(0, MAX_ENTRIES),
    hasMore: !complete || children.length > MAX_ENTRIES,
    hosts: hosts.slice(0, MAX_ENTRIES),
    hasMoreHosts: script.runsEscapes || hosts.some(({ key }) => key === undefined) || hosts.length > MAX_ENTRIES,
  };
}

/** One key is one child, however often it is launched. */
function childrenIn(script: Script, launches: readonly Launch[]): ForeseenChild[] {
  const byKey = new Map<string, ForeseenChild>();
  let before: ForeseenChild | undefined;
  for (const { call, key, keyNode, node, later } of launches) {
    if (byKey.size > MAX_ENTRIES) break;
    const isSure = script.isSure(keyNode.start);
    const known = byKey.get(key);
    if (known) {
      known.isSure ||= isSure;
      continue;
    }
    const isStage = call.member === 'lanes';
    const resumes = node !== undefined && fieldsOf(node).byName.has('resume');
    const asked = askedBy(node);
    // A stage that goes on with the one before it has its agent.
    if (resumes && isStage && later && before?.agent !== undefined) {
      asked.agent = before.agent;
      if (before.model !== undefined) asked.model = before.model;
      asked.isOpen = before.isOpen;
    }
    const child: ForeseenChild = {
      ...asked,
      key,
      ...(isStage ? { lane: key.slice(0, key.lastIndexOf('.')) } : {}),
      resumes,
      // A later stage starts only when the one before it has done its work.
      isSure: isSure && later !== true,
      range: script.rangeOf(keyNode),
    };
    byKey.set(key, child);
    before = child;
  }
  return [...byKey.values()];
}

/**
 * Launches whose keys only a run can tell: items that a function makes, keys that are put together. They may be made away from the
 * call that launches them, so whatever has a key and an agent is taken for one.
 */
function moreIn(script: Script, launches: readonly Launch[]): ForeseenChildren[] {
  const known = new Set<AnyNode | undefined>(launches.map(({ node }) => node));
  const more: ForeseenChildren[] = [];
  for (const node of script.tree.nodes) {
    if (node.type !== 'ObjectExpression' || known.has(node)) continue;
    const parent = script.tree.parent(node);
    // What describes something inside a launch, such as a schema, is none.
    if (parent?.type === 'Property') continue;
    const fields = fieldsOf(node).byName;
    if (!fields.has('agent') && !fields.has('resume')) continue;
    const beside = parent?.type === 'CallExpression' && parent.arguments[1] === node ? parent.arguments[0] : undefined;
    const key = fields.get('key')?.value ?? beside;
    if (key) more.push({ ...askedBy(node), key: sourceOf(script, key), range: script.rangeOf(key) });
  }
  return more;
}

function askedBy(node: ObjectExpression | undefined): Pick<ForeseenChild, 'agent' | 'model' | 'isOpen'> {
  if (!node) return { isOpen: true };
  const fields = fieldsOf(node);
  const [agent, model] = ['agent', 'model'].map((name) => textField(node, name)?.text.trim());
  const isOpen = ['agent', 'model'].some(
    (name) => (fields.open && !fields.byName.has(name)) || (fields.byName.has(name) && !textField(node, name)),
  );
  return { ...(agent ? { agent } : {}), ...(model ? { model } : {}), isOpen };
}

function hostsIn(script: Script): ForeseenHost[] {
  return script.calls
    .filter(({ member }) => member === 'host')
    .map(({ node }) => {
      const [first, second] = plainArguments(node);
      const key = first && plainText(first);
      return {
        ...(key === undefined ? {} : { key }),
        ...commandIn(script, node, second),
        range: script.rangeOf(first ?? node),
      };
    });
}

function commandIn(
  script: Script,
  call: CallExpression,
  params: AnyNode | undefined,
): Pick<ForeseenHost, 'command' | 'isLiteral'> {
  const field = params?.type === 'ObjectExpression' ? fieldsOf(params) : undefined;
  const command = field?.uncertain.has('command') ? undefined : field?.byName.get('command')?.value;
  if (!command) return { command: sourceOf(script, params ?? call), isLiteral: false };
  const text = plainText(command) ?? constantText(script, command);
  return text === undefined
    ? { command: sourceOf(script, command), isLiteral: false }
    : { command: text, isLiteral: true };
}

/** The text of a name that always has the same: `const check = 'npm test'`. */
function constantText({ scopes, tree }: Script, node: AnyNode): string | undefined {
  if (node.type !== 'Identifier') return undefined;
  const binding = scopes.bindingOf(node);
  const [declaration] = binding?.kind === 'const' ? binding.declarations : [];
  const declarator = declaration && tree.parent(declaration);
  if (declarator?.type !== 'VariableDeclarator' || declarator.id !== declaration || !declarator.init) return undefined;
  return plainText(declarator.init);
}

/** An expression as it is written, on one line. */
function sourceOf(script: Script, node: AnyNode): string {
  return cutText(script.source(node).replace(/\s+/g, ' '), MAX_SOURCE_CHARS);
}
