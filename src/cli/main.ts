/** The command line: one case for each command of `usage.ts`. */
import { visible } from '../core/transcripts/index.ts';
import { lanesError, toErrorValue } from '../protocol/index.ts';
import { agentsCommand } from './commands/agents.ts';
import { answerCommand } from './commands/answer.ts';
import { applyCommand, branchCommand, laneConflictsCommand, undoCommand } from './commands/bring-home.ts';
import { CHANGES, changeAgentsCommand } from './commands/change-agents.ts';
import { cleanupCommand } from './commands/cleanup.ts';
import { cleanupApplyCommand, cleanupFinishCommand, cleanupPlanCommand } from './commands/cleanup-worktrees.ts';
import { continueCommand } from './commands/continue.ts';
import { discardCommand } from './commands/discard.ts';
import { doctorCommand } from './commands/doctor.ts';
import { forceStopCommand, interruptCommand, stopCommand } from './commands/end.ts';
import { installPiCommand } from './commands/install-pi.ts';
import { lanesCommand } from './commands/lanes.ts';
import { modelsCommand } from './commands/models.ts';
import { planCommand } from './commands/plan.ts';
import { profilesCommand } from './commands/profiles.ts';
import { restoreCommand } from './commands/restore.ts';
import { resumeCommand } from './commands/resume.ts';
import { runCommand } from './commands/run.ts';
import { runWorkflowCommand } from './commands/run-workflow.ts';
import { statusCommand } from './commands/status.ts';
import { steerCommand } from './commands/steer.ts';
import { transcriptCommand } from './commands/transcript.ts';
import { validateCommand } from './commands/validate.ts';
import { worktreesCommand } from './commands/worktrees.ts';
import { type CliContext, createContext, EXIT, printJson, SCHEMA_VERSION } from './context.ts';
import { withNextStep } from './next-step.ts';
import { flag, parse, takeWord, text, texts } from './options.ts';
import { takesRun, USAGE, usageOf } from './usage.ts';

/** Whether a flag stands among the options, in front of any `--`. */
const has = (args: readonly string[], ...flags: string[]) => {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).some((arg) => flags.includes(arg));
};

async function main(args: string[]): Promise<number> {
  const context = createContext();
  const [command, ...rest] = args;
  const print = (name: 'usage' | 'version', value: string): number => {
    if (has(args, '--json')) printJson(context, { [name]: value });
    else context.out(value);
    return EXIT.ok;
  };
  if (has(rest, '--help', '-h')) return print('usage', (command && usageOf(command)) ?? USAGE);
  switch (command) {
    case 'run': {
      // What goes with an agent does not go with a script, and the other way round.
      if (rest.some((arg) => /^--(?:script|workflow)(?:=|$)/.test(arg)))
        return runWorkflowCommand(context, {
          ...blankWorkflow,
          ...parse(rest, WORKFLOW_OPTIONS, {
            min: 0,
            max: 0,
            elsewhere: { options: AGENT_OPTIONS, text: 'launch_invalid:option-of-agent' },
          }).values,
        });
      const elsewhere = { options: WORKFLOW_OPTIONS, text: 'launch_invalid:option-of-workflow' } as const;
      return runCommand(context, { ...blank, ...parse(rest, AGENT_OPTIONS, { min: 0, max: 0, elsewhere }).values });
    }
    case 'status': {
      const { values, positionals } = parse(rest, { all: flag, limit: text }, { min: 0, max: 1 });
      return statusCommand(context, positionals[0], { all: values.all, limit: values.limit, json: values.json });
    }
    case 'transcript': {
      const { values, positionals } = parse(rest, { follow: flag, child: text }, { min: 1, max: 1 });
      const { follow, child, json } = values;
      return transcriptCommand(context, positionals[0] ?? '', { follow, child, json });
    }
    case 'stop': {
      const { values, positionals } = parse(rest, { child: text }, { min: 1, max: 1 });
      return stopCommand(context, positionals[0] ?? '', { child: values.child, json: values.json });
    }
    case 'steer': {
      const { values, positionals } = parse(rest, { 'follow-up': flag, child: text }, { min: 2, max: 2 });
      return steerCommand(context, positionals[0] ?? '', positionals[1] ?? '', {
        followUp: values['follow-up'],
        child: values.child,
        json: values.json,
      });
    }
    case 'interrupt': {
      const { values, positionals } = parse(rest, { child: text }, { min: 1, max: 1 });
      return interruptCommand(context, positionals[0] ?? '', { child: values.child, json: values.json });
    }
    case 'force-stop': {
      const { values, positionals } = parse(rest, {}, { min: 1, max: 1 });
      return forceStopCommand(context, positionals[0] ?? '', { json: values.json });
    }
    case 'continue': {
      const { values, positionals } = parse(rest, LIMIT_OPTIONS, { min: 1, max: 1 });
      return continueCommand(context, positionals[0] ?? '', { ...blankLimits, ...values });
    }
    case 'resume': {
      const { values, positionals } = parse(
        rest,
        { task: text, fork: flag, cwd: text, approve: flag, child: text, wait: flag },
        { min: 1, max: 1 },
      );
      return resumeCommand(context, positionals[0] ?? '', { ...values, json: values.json });
    }
    case 'answer': {
      const { values, positionals } = parse(
        rest,
        { value: text, yes: flag, no: flag, cancel: flag },
        { min: 1, max: 2 },
      );
      return answerCommand(context, positionals[0] ?? '', positionals[1], { ...values, json: values.json });
    }
    case 'cleanup': {
      const { word: action, others } = takeWord(rest, { days: text, only: texts, timeout: text });
      if (action !== undefined) return cleanUpWorktrees(context, action, others);
      const { values } = parse(rest, { days: text, 'dry-run': flag }, { min: 0, max: 0 });
      return cleanupCommand(context, { days: values.days, 'dry-run': values['dry-run'], json: values.json });
    }
    case 'apply': {
      const options = { files: texts, forecast: flag, undo: flag };
      const { values, positionals } = parse(rest, options, { min: has(rest, '--undo') ? 0 : 1, max: 1 });
      const { files, forecast, undo, json } = values;
      if (!undo) return applyCommand(context, positionals[0] ?? '', { files, forecast, json });
      const other = files ? '--files' : forecast ? '--forecast' : undefined;
      if (other !== undefined) throw lanesError('launch_invalid:with-undo', { option: other });
      return undoCommand(context, positionals[0], { json });
    }
    case 'branch': {
      const { values, positionals } = parse(rest, {}, { min: 2, max: 2, missing: 'launch_invalid:no-branch' });
      return branchCommand(context, positionals[0] ?? '', positionals[1] ?? '', { json: values.json });
    }
    case 'discard': {
      const { values, positionals } = parse(rest, { yes: flag }, { min: 1, max: 1 });
      return discardCommand(context, positionals[0] ?? '', { yes: values.yes, json: values.json });
    }
    case 'restore': {
      const { values, positionals } = parse(rest, {}, { min: 1, max: 1 });
      return restoreCommand(context, positionals[0] ?? '', { json: values.json });
    }
    case 'worktrees':
      return worktreesCommand(context, { json: parse(rest, {}, { min: 0, max: 0 }).values.json });
    case 'lanes': {
      const { values, positionals } = parse(rest, LANES_OPTIONS, {
        min: 2,
        max: 2,
        missing: 'launch_invalid:no-lanes',
      });
      const [word = '', run = ''] = positionals;
      if (word === 'conflicts') {
        const other = Object.keys(LANES_OPTIONS).find((name) => Object.hasOwn(values, name));
        if (other !== undefined) throw lanesError('launch_invalid:lanes-option', { option: other, action: word });
        return laneConflictsCommand(context, run, { json: values.json });
      }
      return lanesCommand(context, positionals[0] ?? '', positionals[1] ?? '', { ...blankLanes, ...values });
    }
    case 'agents': {
      const { word: action, others } = takeWord(rest, {
        scope: text,
        description: text,
        set: texts,
        'prompt-file': text,
      });
      const change = CHANGES.find((one) => one === action);
      if (change !== undefined) return changeAgents(context, change, others);
      // By itself too: an agent that somebody else has made can be called like one of the words.
      const shown = action === 'show' ? others : rest;
      const named = action === 'show' ? { min: 1, missing: 'launch_invalid:no-agent-name' as const } : { min: 0 };
      const { values, positionals } = parse(shown, { capabilities: flag, scope: text }, { ...named, max: 1 });
      const { capabilities, scope, json } = values;
      return agentsCommand(context, positionals[0], { capabilities, scope, json });
    }
    case 'plan': {
      const { wait: _wait, ...options } = AGENT_OPTIONS;
      return planCommand(context, { ...blank, ...parse(rest, options, { min: 0, max: 0 }).values });
    }
    case 'profiles': {
      const known = { provider: text, force: flag, 'no-probe': flag };
      const { values, positionals } = parse(rest, known, { min: 0, max: 3 });
      const { provider, force, 'no-probe': noProbe, json } = values;
      return profilesCommand(context, positionals, { provider, force, 'no-probe': noProbe, json });
    }
    case 'models': {
      const { values, positionals } = parse(rest, { include: text }, { min: 0, max: 1 });
      return modelsCommand(context, positionals[0], { include: values.include, json: values.json });
    }
    case 'validate': {
      const options = { 'max-spawns': text };
      const { values, positionals } = parse(rest, options, {
        min: 1,
        max: Number.POSITIVE_INFINITY,
        missing: 'launch_invalid:no-script',
      });
      return validateCommand(context, positionals, { maxSpawns: values['max-spawns'], json: values.json });
    }
    case 'doctor':
      return doctorCommand(context, { json: parse(rest, {}, { min: 0, max: 0 }).values.json });
    case 'install-pi':
      return installPiCommand(context, parse(rest, { yes: flag }, { min: 0, max: 0 }).values);
    case 'help':
    case '--help':
    case '-h': {
      const [about] = rest.filter((arg) => !arg.startsWith('-'));
      if (about === undefined) return print('usage', USAGE);
      const own = usageOf(about);
      if (own === undefined) throw lanesError('launch_invalid:command', { command: about });
      return print('usage', own);
    }
    case '--version':
    case '-v':
    case 'version':
      return print('version', PI_LANES_VERSION);
    case undefined:
      context.err(USAGE);
      return EXIT.refused;
    default:
      throw lanesError('launch_invalid:command', { command });
  }
}

/** Each step of a clean-up of worktrees takes the options it can use, and no other. */
function cleanUpWorktrees(context: CliContext, action: string, rest: string[]): Promise<number> {
  if (action === 'plan') return cleanupPlanCommand(context, parse(rest, {}, { min: 0, max: 0 }).values);
  if (action === 'apply') {
    const options = { only: texts, timeout: text };
    const { values, positionals } = parse(rest, options, { min: 1, max: 1, missing: 'launch_invalid:no-plan' });
    const { only, timeout, json } = values;
    return cleanupApplyCommand(context, positionals[0] ?? '', { only, timeout, json });
  }
  if (action === 'finish') {
    const { timeout, json } = parse(rest, { timeout: text }, { min: 0, max: 0 }).values;
    return cleanupFinishCommand(context, { timeout, json });
  }
  throw lanesError('launch_invalid:cleanup-action', { action });
}

/** Each way to change an agent takes the options it can use, and no other. */
function changeAgents(context: CliContext, change: (typeof CHANGES)[number], rest: string[]): Promise<number> {
  const none = { scope: undefined, description: undefined, set: undefined, 'prompt-file': undefined };
  const named = { min: 1, max: 1, missing: 'launch_invalid:no-agent-name' } as const;
  if (change === 'undo') {
    const { values } = parse(rest, {}, { min: 0, max: 0 });
    return changeAgentsCommand(context, change, '', { ...none, json: values.json });
  }
  if (change === 'create' || change === 'update') {
    const options = { scope: text, description: text, set: texts, 'prompt-file': text };
    const { values, positionals } = parse(rest, options, named);
    const { scope, description, set, 'prompt-file': prompt, json } = values;
    return changeAgentsCommand(context, change, positionals[0] ?? '', {
      scope,
      description,
      set,
      'prompt-file': prompt,
      json,
    });
  }
  const words = change === 'import' ? ({ ...named, missing: 'launch_invalid:no-import-file' } as const) : named;
  const { values, positionals } = parse(rest, { scope: text }, words);
  return changeAgentsCommand(context, change, positionals[0] ?? '', {
    ...none,
    scope: values.scope,
    json: values.json,
  });
}

const AGENT_OPTIONS = {
  agent: text,
  task: text,
  'task-file': text,
  model: text,
  thinking: text,
  cwd: text,
  worktree: flag,
  base: text,
  label: text,
  output: text,
  'output-mode': text,
  'output-schema': text,
  timeout: text,
  'tool-timeout': text,
  approve: flag,
  context: text,
  wait: flag,
};

const LANES_OPTIONS = {
  pr: text,
  'reviewed-head': text,
  'merge-commit': text,
  'tree-equivalent': text,
  checks: text,
  'superseded-by': text,
  by: text,
  at: text,
};

const blankLanes = {
  pr: undefined,
  'reviewed-head': undefined,
  'merge-commit': undefined,
  'tree-equivalent': undefined,
  checks: undefined,
  'superseded-by': undefined,
  by: undefined,
  at: undefined,
  json: undefined,
};

const LIMIT_OPTIONS = {
  'max-spawns': text,
  concurrency: text,
  'max-tokens': text,
  'max-cost': text,
  timeout: text,
  wait: flag,
};

const WORKFLOW_OPTIONS = {
  ...LIMIT_OPTIONS,
  script: text,
  workflow: text,
  preflight: text,
  args: text,
  'args-file': text,
  'allow-host': texts,
  output: text,
  model: text,
  cwd: text,
  worktree: flag,
  base: text,
  approve: flag,
};

const blankLimits = {
  'max-spawns': undefined,
  concurrency: undefined,
  'max-tokens': undefined,
  'max-cost': undefined,
  timeout: undefined,
  wait: undefined,
  json: undefined,
};

const blankWorkflow = {
  ...blankLimits,
  script: undefined,
  workflow: undefined,
  preflight: undefined,
  args: undefined,
  'args-file': undefined,
  'allow-host': undefined,
  output: undefined,
  model: undefined,
  cwd: undefined,
  worktree: undefined,
  base: undefined,
  approve: undefined,
};

const blank = {
  agent: undefined,
  task: undefined,
  'task-file': undefined,
  model: undefined,
  thinking: undefined,
  cwd: undefined,
  worktree: undefined,
  base: undefined,
  label: undefined,
  output: undefined,
  'output-mode': undefined,
  'output-schema': undefined,
  timeout: undefined,
  'tool-timeout': undefined,
  approve: undefined,
  context: undefined,
  wait: undefined,
  json: undefined,
};

/** The run that a command line is about, as it was typed. */
function runIn([command = '', ...rest]: readonly string[]): string | undefined {
  const [first] = rest;
  return takesRun(command) && first !== undefined && !first.startsWith('-') ? first : undefined;
}

function report(error: unknown): number {
  const value = withNextStep(toErrorValue(error), runIn(process.argv.slice(2)));
  if (has(process.argv.slice(2), '--json'))
    process.stdout.write(`${JSON.stringify({ schemaVersion: SCHEMA_VERSION, error: value })}\n`);
  else process.stderr.write(visible(`pi-lanes: ${value.message}\n${value.hint ? `  ${value.hint}\n` : ''}`));
  return EXIT.refused;
}

// A reader that goes away (`| head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
});

main(process.argv.slice(2))
  .catch(report)
  .then((code) => {
    // Output to a pipe may still be under way: let the event loop end by itself.
    process.exitCode = code;
  });
