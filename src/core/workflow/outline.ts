/** Keys and agents of a script, for outline, completion, references and the check of agent names. */
import type { AnyNode } from 'acorn';
import type { AgentMention, ScriptKey } from '../../protocol/index.ts';
import type { Launch } from './launches.ts';
import { fieldsOf, literalItems } from './literals.ts';
import { plainArguments, type Script } from './script.ts';
import { plainText } from './syntax-tree.ts';

/** More are not remembered: nobody finds their way in them. */
const MAX_ENTRIES = 2_000;

export function outlineOf(script: Script, launches: readonly Launch[]): { keys: ScriptKey[]; agents: AgentMention[] } {
  const keys: ScriptKey[] = [];
  const add = (api: ScriptKey['api'], key: string, keyNode: AnyNode, whole: AnyNode, node: AnyNode | undefined) => {
    const [agent, label] = ['agent', 'label'].map((name) => textField(node, name));
    keys.push({
      key,
      api,
      launches: api === 'run' || api === 'all' || api === 'stage' || api === 'host',
      ...(agent && { agent: agent.text }),
      ...(label && { label: label.text }),
      range: script.rangeOf(keyNode),
      whole: script.rangeOf(whole),
    });
  };
  for (const launch of launches) {
    const api = launch.call.member === 'run' ? 'run' : launch.call.member === 'all' ? 'all' : 'stage';
    add(
      api,
      launch.key,
      launch.keyNode,
      api === 'run' ? launch.call.node : (launch.node ?? launch.call.node),
      launch.node,
    );
  }
  for (const { node } of launches) {
    const metadata = node && fieldsOf(node).byName.get('lane')?.value;
    const key = textField(metadata, 'key');
    if (metadata && key) add('metadata', key.text, key.node, metadata, undefined);
  }
  for (const call of script.calls) {
    const [first] = plainArguments(call.node);
    const text = first && plainText(first);
    if (call.member === 'lanes' && first) {
      for (const lane of lanesIn(first)) add('lane', lane.text, lane.node, lane.whole, undefined);
    } else if (
      first &&
      text !== undefined &&
      (call.member === 'host' || call.member === 'steer' || call.member === 'status')
    ) {
      add(call.member, text, first, call.node, undefined);
    }
  }
  keys.sort((a, b) => a.range.line - b.range.line || a.range.column - b.range.column);
  return { keys: keys.slice(0, MAX_ENTRIES), agents: agentsIn(script).slice(0, MAX_ENTRIES) };
}

function lanesIn(root: AnyNode): { text: string; node: AnyNode; whole: AnyNode }[] {
  if (root.type !== 'ArrayExpression') return [];
  return literalItems(root).items.flatMap((lane) => {
    const key = lane ? textField(lane, 'key') : undefined;
    return lane && key ? [{ ...key, whole: lane }] : [];
  });
}

export function textField(node: AnyNode | undefined, name: string): { text: string; node: AnyNode } | undefined {
  if (node?.type !== 'ObjectExpression') return undefined;
  const fields = fieldsOf(node);
  const value = fields.uncertain.has(name) ? undefined : fields.byName.get(name)?.value;
  const text = value && plainText(value);
  return value && text !== undefined ? { text, node: value } : undefined;
}

/** Every `agent` in what is launched, also in items that are made by a function. */
function agentsIn(script: Script): AgentMention[] {
  const agents: AgentMention[] = [];
  const launches = script.calls.filter(({ node }) => script.isLaunch(node)).map(({ node }) => node);
  let at = 0;
  let end = -1;
  for (const node of script.tree.nodes) {
    // Nodes and calls come in the order of the text: one walk over both finds what is inside a call.
    for (let next = launches[at]; next && next.start <= node.start; next = launches[at]) {
      end = Math.max(end, next.end);
      at += 1;
    }
    if (node.type !== 'ObjectExpression' || node.start >= end) continue;
    const agent = textField(node, 'agent');
    if (agent) agents.push({ name: agent.text, range: script.rangeOf(agent.node) });
  }
  return agents;
}
