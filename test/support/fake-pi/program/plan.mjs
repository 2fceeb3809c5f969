// Reading plans. A plan that is not understood is an error of the test: nothing in it is ever skipped in silence.

export class PlanError extends Error {}

/** Keys that make a step a turn of the model. */
const TURN_KEYS = ['thinking', 'say', 'tools', 'error'];

/** Every key of a step, by the key that names the step. */
const STEPS = {
  turn: [...TURN_KEYS, 'stop', 'usage', 'tokenMs', 'retry'],
  wait: [],
  hang: [],
  exit: ['stderr'],
  kill: [],
  cpu: [],
  emit: ['newline'],
  line: [],
  raw: [],
  hex: [],
  stderr: [],
  flood: ['mb', 'lineBytes'],
  big: ['bytes', 'willRetry'],
  split: ['gapMs'],
  grandchild: ['ownSession', 'ignoreTerm', 'seconds', 'bareEnvironment'],
  dialog: ['title', 'message', 'options', 'placeholder', 'prefill', 'timeout'],
  gate: [],
  await: [],
  deleteSession: [],
  write: ['text'],
  compaction: ['summary', 'during', 'failure', 'aborted'],
  agentEnd: [],
  refuse: [],
  handled: [],
};

const TOOL_KEYS = ['name', 'args', 'output', 'updates', 'ms', 'isError', 'during'];
const HOOKS = ['onStdinClose', 'onSigterm', 'ignoreSignals', 'commands', 'session'];
const TASK_STEPS = ['accepting', 'accepted', 'steps', 'ended', 'settled'];
const TASK_KEYS = [...TASK_STEPS, ...HOOKS, 'agentEnd', 'keepQueue', 'attempts', 'key'];
const LAUNCH_KEYS = ['start', 'ready', 'state', 'models', 'task', 'remembers', 'launches', 'match', 'for', ...HOOKS];

/** What kind of step this is. @throws PlanError */
export function kindOf(step) {
  if (typeof step !== 'object' || step === null)
    throw new PlanError(`a step must be an object: ${JSON.stringify(step)}`);
  if (TURN_KEYS.some((key) => key in step)) return 'turn';
  const kind = Object.keys(STEPS).find((key) => key in step);
  if (kind === undefined) throw new PlanError(`unknown step ${JSON.stringify(step)}`);
  return kind;
}

function checkKeys(value, known, what) {
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) throw new PlanError(`${what} has an unknown key "${key}"`);
  }
}

function checkSteps(steps, what) {
  if (steps === undefined) return;
  if (!Array.isArray(steps)) throw new PlanError(`${what} must be a list of steps`);
  for (const step of steps) {
    const kind = kindOf(step);
    checkKeys(step, [kind, ...STEPS[kind]], `the step ${JSON.stringify(step).slice(0, 200)}`);
    checkSteps(step.during, 'during');
    for (const tool of step.tools ?? []) {
      checkKeys(tool, TOOL_KEYS, 'a tool');
      checkSteps(tool.during, 'during');
    }
    for (const parts of [step.say, step.thinking]) {
      if (Array.isArray(parts)) checkSteps(parts.filter(isStepPart), 'a say');
    }
  }
}

/** Parts of a text that are no text: steps to run in the middle of the message. */
export function isStepPart(part) {
  return typeof part === 'object' && part !== null && !('fill' in part) && !('think' in part);
}

function checkHooks(plan) {
  checkSteps(plan.onStdinClose, 'onStdinClose');
  checkSteps(plan.onSigterm, 'onSigterm');
}

export function checkTask(plan) {
  checkKeys(plan, TASK_KEYS, 'the plan');
  for (const key of TASK_STEPS) checkSteps(plan[key], key);
  checkHooks(plan);
  for (const attempt of plan.attempts ?? []) checkTask(attempt);
  return plan;
}

export function checkLaunch(plan) {
  checkKeys(plan, LAUNCH_KEYS, 'the launch plan');
  checkSteps(plan.start, 'start');
  checkSteps(plan.ready, 'ready');
  checkHooks(plan);
  if (plan.task !== undefined) checkTask(plan.task);
  for (const launch of plan.launches ?? []) checkLaunch(launch);
  return plan;
}

/**
 * The plan in a text, and the text without it.
 * @returns `{ plan, rest, source }`; `plan` and `source` are undefined when there is none
 * @throws PlanError when there is one that cannot be read
 */
export function findTask(text) {
  const at = text.indexOf('FAKE:{');
  if (at === -1) return { plan: undefined, rest: text.trim(), source: undefined };
  const start = at + 'FAKE:'.length;
  const end = endOfJson(text, start);
  if (end === undefined) throw new PlanError('the plan behind FAKE: is not closed');
  const source = text.slice(start, end);
  const rest = `${text.slice(0, at)}${text.slice(end)}`.trim();
  return { plan: checkTask(parse(source)), rest, source };
}

export function parse(source) {
  try {
    return JSON.parse(source);
  } catch (error) {
    throw new PlanError(`the plan is not JSON: ${error.message}`);
  }
}

/** Offset just behind the bracket that closes the one at `start`; brackets inside strings do not count. */
function endOfJson(text, start) {
  const token = /"(?:[^"\\]|\\.)*"|[[\]{}]/gs;
  token.lastIndex = start;
  let depth = 0;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    if (match[0] === '{' || match[0] === '[') depth += 1;
    if (match[0] === '}' || match[0] === ']') depth -= 1;
    if (depth === 0) return token.lastIndex;
  }
  return undefined;
}
