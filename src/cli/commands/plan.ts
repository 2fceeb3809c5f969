import { foreseeLaunch } from '../../client/index.ts';
import { accessOf } from '../../core/launch/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { formatDuration } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { type LaunchOptions, requestOf } from './run.ts';

type Foreseen = Awaited<ReturnType<typeof foreseeLaunch>>;

/** Shows what a launch would run. Nothing is started but a Pi that is asked for its models, and nothing is written. */
export async function planCommand(
  context: CliContext,
  options: LaunchOptions & { json: boolean | undefined },
): Promise<number> {
  const foreseen = await foreseeLaunch(context.toolbox, await requestOf(context, options));
  if (options.json) printJson(context, { plan: asJson(foreseen) });
  else context.out(visible(asText(foreseen)));
  return EXIT.ok;
}

function asJson({ record, planned, agent }: Foreseen) {
  const { child, models, context, prompt, systemPrompt, warnings } = planned;
  const { agent: contract, output: _output, ...plan } = child;
  const { systemPrompt: _prompt, ...definition } = contract;
  return {
    agent: { ...definition, file: agent.file },
    ...plan,
    ...(record.child.output ? { output: record.child.output } : {}),
    effectiveTools: accessOf(child).tools ?? null,
    candidates: models.candidates,
    context: context.context,
    cwd: record.cwd,
    timeoutMs: record.timeoutMs,
    trust: record.trust,
    ceiling: record.ceiling,
    toolRules: record.toolRules ?? {},
    pi: { version: record.pi.version },
    prompt,
    systemPrompt: { mode: contract.systemPromptMode, text: systemPrompt },
    warnings: warnings.map(({ text: _text, params: _params, ...warning }) => warning),
  };
}

function asText({ record, planned, agent }: Foreseen): string {
  const { child, models, context, prompt, systemPrompt, warnings } = planned;
  const { extensions, skills, tools } = accessOf(child);
  const { wait, toolBudget, memory } = child;
  const rows: [string, string | undefined][] = [
    ['agent', `${agent.name} (${agent.source}, ${agent.file})`],
    ['session', child.sessionName],
    [
      'model',
      models.candidates
        .map(({ model, thinking }) => `${model ?? 'default of Pi'}${thinking ? `:${thinking}` : ''}`)
        .join(', then '),
    ],
    ['tools', toolsRow(tools, child.tools)],
    ['asked about', child.tools?.asked?.join(', ')],
    ['extensions', listRow(extensions)],
    ['skills', listRow(skills)],
    ['context', `${context.context}${agent.inheritProjectContext ? ', with the files of the project' : ''}`],
    ['memory', memory && `${memory.file}${memory.isWritable ? '' : ' (cannot be changed)'}`],
    ['folder', `${record.cwd}${record.trust === 'approve' ? '' : ' (project not trusted)'}`],
    ['output', record.child.output && `${record.child.output.path} (${record.child.output.mode})`],
    ['time limit', record.timeoutMs === null ? 'none' : formatDuration(record.timeoutMs)],
    ['of one tool', child.toolTimeoutMs === undefined ? undefined : formatDuration(child.toolTimeoutMs)],
    ['tool budget', toolBudget && `${toolBudget.hard} calls`],
    ['waits for runs', wait && (wait.enabled ? formatDuration(wait.defaultTimeoutMs) : 'no')],
    ['Pi', record.pi.version],
    ['digest', child.digests?.launch],
  ];
  const shown = rows.flatMap(([name, value]) => (value === undefined ? [] : [`${`${name}:`.padEnd(16)}${value}`]));
  return [
    ...shown,
    ...warnings.map(({ message }) => `${'note:'.padEnd(16)}${message}`),
    '',
    `System prompt (${agent.systemPromptMode === 'replace' ? "in the place of Pi's" : "after Pi's"}):`,
    systemPrompt,
    '',
    'Prompt:',
    prompt,
  ].join('\n');
}

function toolsRow(list: readonly string[] | undefined, tools: Foreseen['planned']['child']['tools']): string {
  if (list) return list.join(', ') || 'none';
  const parts = [
    tools?.only ? `of what Pi offers: ${tools.only.join(', ') || 'none'}` : 'what Pi offers',
    ...(tools?.denied ? [`not ${tools.denied.join(', ')}`] : []),
  ];
  return parts.join('; ');
}

function listRow({ found, paths }: { found: boolean; paths: readonly string[] }): string {
  return [...(found ? ['those Pi finds'] : []), ...paths].join(', ') || 'none';
}
