/** The global names of a workflow: members of `runs`, names that hide it, names that do not exist here. */
import type { Identifier } from 'acorn';
import { didYouMean, type Phrase, RUNS_MEMBERS, say, sentences } from '../../../protocol/index.ts';
import { nearest } from '../../spelling/index.ts';
import type { Script } from '../script.ts';
import { SCRIPT_GLOBALS } from '../script-globals.ts';
import { keyName, propertyName } from '../syntax-tree.ts';

/** Names that other hosts of JavaScript have, with what to do here. */
const MISSING: Readonly<Record<string, Phrase>> = {
  process: say('instead:process'),
  require: say('instead:require'),
  module: say('instead:module'),
  exports: say('instead:module'),
  global: say('instead:global'),
  Buffer: say('instead:Buffer'),
  fetch: say('instead:fetch'),
  XMLHttpRequest: say('instead:fetch'),
  URL: say('instead:URL'),
  TextEncoder: say('instead:TextEncoder'),
  TextDecoder: say('instead:TextDecoder'),
  crypto: say('instead:crypto'),
  structuredClone: say('instead:structuredClone'),
  queueMicrotask: say('instead:queueMicrotask'),
  performance: say('instead:performance'),
  setTimeout: say('instead:timeout'),
  setInterval: say('instead:timeout'),
  setImmediate: say('instead:setImmediate'),
  Intl: say('instead:Intl'),
  window: say('instead:document'),
  document: say('instead:document'),
};

const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype));

export function checkNames(script: Script): void {
  checkMembers(script);
  checkShadowing(script);
  checkGlobals(script);
}

function checkGlobals(script: Script): void {
  const { globals } = script.scopes;
  // Whoever has the global object, or code made at run time, can add names to it.
  const mayAddNames = globals.has('globalThis') || globals.has('eval') || globals.has('Function');
  for (const [name, uses] of globals) {
    const advice = Object.hasOwn(MISSING, name) ? MISSING[name] : undefined;
    if (advice === undefined && (mayAddNames || SCRIPT_GLOBALS.has(name) || name === 'arguments')) continue;
    // A script that sets the name itself, or asks whether it is there, knows what it does.
    if (uses.some((use) => script.scopes.isWritten(use) || isAsked(script, use))) continue;
    const certain = uses.filter((use) => script.isGlobal(use));
    // What is only not declared is said once: where it stops the script.
    for (const use of advice === undefined ? certain.slice(0, 1) : certain) {
      const further = advice ?? didYouMean(whatWasMeant(script, name));
      script.report('global_missing', use, sentences(say('global_missing', { name }), further));
    }
  }
}

function isAsked(script: Script, use: Identifier): boolean {
  const parent = script.tree.parent(use);
  return parent?.type === 'UnaryExpression' && parent.operator === 'typeof';
}

function whatWasMeant(script: Script, name: string): string | undefined {
  const members: readonly string[] = RUNS_MEMBERS;
  if (members.includes(name)) return `runs.${name}`;
  return nearest(name, [...SCRIPT_GLOBALS, ...script.scopes.bindings.map((binding) => binding.name)]);
}

function checkMembers(script: Script): void {
  const known: readonly string[] = RUNS_MEMBERS;
  const uses = script.scopes.globals.get('runs') ?? [];
  if (uses.some((use) => script.scopes.isWritten(use))) return;
  for (const use of uses) {
    if (!script.isGlobal(use)) continue;
    const member = script.tree.parent(use);
    if (member?.type === 'VariableDeclarator' && member.id.type === 'ObjectPattern') {
      for (const property of member.id.properties) {
        const name = property.type === 'Property' ? keyName(property) : undefined;
        if (name === undefined || known.includes(name) || INHERITED.has(name) || property.type !== 'Property') continue;
        script.report('runs_member_missing', property.key, say('runs_member', { name, known: known.join(', ') }));
      }
    }
    if (member?.type !== 'MemberExpression' || member.object !== use) continue;
    const name = propertyName(member);
    if (name === undefined || known.includes(name) || INHERITED.has(name)) continue;
    const call = script.tree.parent(member);
    const fails = call?.type === 'CallExpression' && call.callee === member && !call.optional;
    const meant = nearest(name, known);
    const fix =
      meant === undefined || member.computed
        ? undefined
        : {
            kind: 'rename_member' as const,
            title: say('fix:rename', { name: meant }),
            safe: false,
            edits: [{ start: member.property.start, end: member.property.end, text: meant }],
          };
    const message = sentences(say('runs_member', { name, known: known.join(', ') }), didYouMean(meant));
    script.report(fails ? 'runs_member_unknown' : 'runs_member_missing', member.property, message, { fix });
  }
}

function checkShadowing(script: Script): void {
  const message = say('runs_shadowed');
  for (const binding of script.scopes.bindings) {
    if (binding.name !== 'runs') continue;
    for (const at of binding.declarations) script.report('runs_shadowed', at, message);
  }
  for (const use of script.scopes.globals.get('runs') ?? []) {
    if (script.scopes.isWritten(use)) script.report('runs_shadowed', use, message);
  }
}
