/** The global names of a workflow: members of `runs`, names that hide it, names that do not exist here. */
import type { Identifier } from 'acorn';
import { RUNS_MEMBERS } from '../../../protocol/index.ts';
import { nearest } from '../nearest.ts';
import type { Script } from '../script.ts';
import { SCRIPT_GLOBALS } from '../script-globals.ts';
import { keyName, propertyName } from '../syntax-tree.ts';

/** Names that other hosts of JavaScript have, with what to do here. */
const MISSING: Readonly<Record<string, string>> = {
  process: 'There is no process: the script has no environment and no file system.',
  require: 'Nothing can be loaded. Let a child do what needs a package.',
  module: 'A workflow script is no module; its result is what it returns.',
  exports: 'A workflow script is no module; its result is what it returns.',
  global: 'Use globalThis.',
  Buffer: 'There is no Buffer: results are texts and JSON.',
  fetch: 'There is no network. Let a child fetch it.',
  XMLHttpRequest: 'There is no network. Let a child fetch it.',
  URL: 'There is no URL.',
  TextEncoder: 'There is no TextEncoder.',
  TextDecoder: 'There is no TextDecoder.',
  crypto: 'There is no crypto. Random names would differ when a run is continued.',
  structuredClone: 'Use JSON.parse(JSON.stringify(value)).',
  queueMicrotask: 'Use a promise.',
  performance: 'There is no performance; Date.now() is the time of the last answer.',
  setTimeout: 'There are no timers. Give a launch a timeoutMs.',
  setInterval: 'There are no timers. Give a launch a timeoutMs.',
  setImmediate: 'There are no timers.',
  Intl: 'There is no Intl, so that a script does the same everywhere.',
  window: 'There is no document.',
  document: 'There is no document.',
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
      const message = `"${name}" does not exist in workflow scripts. ${advice ?? whatWasMeant(script, name)}`;
      script.report('global_missing', use, message.trimEnd());
    }
  }
}

function isAsked(script: Script, use: Identifier): boolean {
  const parent = script.tree.parent(use);
  return parent?.type === 'UnaryExpression' && parent.operator === 'typeof';
}

function whatWasMeant(script: Script, name: string): string {
  const members: readonly string[] = RUNS_MEMBERS;
  const meant = members.includes(name)
    ? `runs.${name}`
    : nearest(name, [...SCRIPT_GLOBALS, ...script.scopes.bindings.map((binding) => binding.name)]);
  return meant === undefined ? '' : `Did you mean "${meant}"?`;
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
        script.report('runs_member_missing', property.key, `runs has no "${name}". It has ${known.join(', ')}.`);
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
            title: `Change to "${meant}"`,
            safe: false,
            edits: [{ start: member.property.start, end: member.property.end, text: meant }],
          };
    const hint = meant ? ` Did you mean "${meant}"?` : '';
    const message = `runs has no "${name}". It has ${known.join(', ')}.${hint}`;
    script.report(fails ? 'runs_member_unknown' : 'runs_member_missing', member.property, message, { fix });
  }
}

function checkShadowing(script: Script): void {
  const message =
    '"runs" is the name by which children are launched; what is called so here hides it, and is not checked.';
  for (const binding of script.scopes.bindings) {
    if (binding.name !== 'runs') continue;
    for (const at of binding.declarations) script.report('runs_shadowed', at, message);
  }
  for (const use of script.scopes.globals.get('runs') ?? []) {
    if (script.scopes.isWritten(use)) script.report('runs_shadowed', use, message);
  }
}
