/** What a journal says of a workflow beside its children. Pure. */
import type { AskedCommand, HostStepView, JournalLine, WorkflowRecord, WorkflowView } from '../../protocol/index.ts';

type WorkflowLine = Extract<JournalLine, { type: `workflow.${string}` | `host.${string}` }>;

export function newWorkflow({ workflow, timeoutMs }: WorkflowRecord): WorkflowView {
  const { name, file, limits, output, resource, preflight } = workflow;
  return {
    name,
    file,
    steps: 0,
    lanes: [],
    hosts: [],
    waiting: [],
    emits: 0,
    console: 0,
    told: [],
    continued: 0,
    failure: null,
    ...(output === undefined ? {} : { output: { path: output, outcome: null, error: null } }),
    ...(resource ? { resource } : {}),
    ...(preflight ? { preflight } : {}),
    bounds: { limits, timeoutMs },
  };
}

export function applyToWorkflow(view: WorkflowView, line: WorkflowLine): WorkflowView {
  switch (line.type) {
    case 'workflow.delivered':
      return before(view, line.step);
    case 'workflow.said':
      return tell(view, line.step, { emits: line.emits.length, console: line.console.length, lanes: [] });
    case 'workflow.planned':
      return tell(view, line.step, { emits: 0, console: 0, lanes: line.lanes });
    case 'workflow.stepped': {
      const told = retold(view, line.step);
      const asked = line.asks
        .filter(({ type }) => type === 'launch')
        .map(({ id, key }) => ({ id, key, step: line.step }));
      const waiting = [...told.waiting, ...asked];
      if (line.more) return { ...told, waiting };
      return { ...told, steps: line.step, waiting: inQueue(waiting, line.step, line.queue) };
    }
    case 'workflow.ended':
      return { ...view, failure: line.failure };
    case 'host.intended': {
      const { id, key, command, role, t: startedAt } = line;
      const host: HostStepView = {
        id,
        key,
        command,
        role,
        state: 'running',
        exitCode: null,
        outputPath: null,
        startedAt,
        endedAt: null,
        error: null,
      };
      return withHost(view, host);
    }
    case 'host.started':
      return view;
    case 'host.ended': {
      const { state, exitCode, outputPath, error, t: endedAt } = line;
      const hosts = view.hosts.map((one) =>
        one.id === line.id ? { ...one, state, exitCode, outputPath, error, endedAt } : one,
      );
      return { ...view, hosts };
    }
    default:
      return line satisfies never;
  }
}

type Waiting = WorkflowView['waiting'];

/** First come, first served: of those that waited before, the last are left. */
function inQueue(asked: Waiting, step: number, queue: { added: number[]; length: number } | undefined): Waiting {
  if (!queue) return [];
  const added = new Set(queue.added);
  return asked.filter((one) => one.step !== step || added.has(one.id)).slice(-queue.length);
}

type Told = Pick<WorkflowView, 'emits' | 'console' | 'lanes'>;

/** What was told of a step, added to what was told before. */
function tell(view: WorkflowView, step: number, more: Told): WorkflowView {
  const base = retold(view, step);
  const told = base.told.filter((one) => one.step !== step);
  const own = base.told.find((one) => one.step === step) ?? { step, emits: 0, console: 0, lanes: 0 };
  return {
    ...base,
    emits: base.emits + more.emits,
    console: base.console + more.console,
    lanes: [...base.lanes, ...more.lanes],
    told: [
      ...told,
      {
        step,
        emits: own.emits + more.emits,
        console: own.console + more.console,
        lanes: own.lanes + more.lanes.length,
      },
    ],
  };
}

/** Something is said of a step: when it was done already, it is told again, and nothing of it and of later ones holds. */
function retold(view: WorkflowView, step: number): WorkflowView {
  return step > view.steps ? view : before(view, step);
}

/** What was told before a step. */
function before(view: WorkflowView, step: number): WorkflowView {
  const gone = view.told.filter((one) => one.step >= step);
  const steps = Math.min(view.steps, step - 1);
  const waiting = view.waiting.filter((one) => one.step < step);
  const isSame = gone.length === 0 && steps === view.steps && waiting.length === view.waiting.length;
  if (isSame) return view;
  const sum = (part: 'emits' | 'console' | 'lanes') => gone.reduce((total, one) => total + one[part], 0);
  return {
    ...view,
    steps,
    waiting,
    emits: view.emits - sum('emits'),
    console: view.console - sum('console'),
    lanes: view.lanes.slice(0, view.lanes.length - sum('lanes')),
    told: view.told.filter((one) => one.step < step),
  };
}

/** A new runner: what its predecessor had begun to tell of a step and not finished is told again. */
export function withoutUnfinished(view: WorkflowView): WorkflowView {
  return before(view, view.steps + 1);
}

/** A person is asked whether a command may run. */
export function commandAsked(view: WorkflowView, asked: AskedCommand, at: number): WorkflowView {
  return withHost(view, {
    ...asked,
    state: 'asking',
    exitCode: null,
    outputPath: null,
    startedAt: at,
    endedAt: null,
    error: null,
  });
}

/** The question is closed. A command that may run is told of by its intent. */
export function commandSettled(view: WorkflowView, { id }: AskedCommand, isAllowed: boolean, at: number): WorkflowView {
  if (isAllowed) return view;
  const hosts = view.hosts.map((one) =>
    one.id === id && one.state === 'asking' ? { ...one, state: 'denied' as const, endedAt: at } : one,
  );
  return { ...view, hosts };
}

/** Nobody waits for consent any more: what still needs it asks anew. */
export function withoutAsking(view: WorkflowView): WorkflowView {
  return { ...view, hosts: view.hosts.filter(({ state }) => state !== 'asking') };
}

function withHost(view: WorkflowView, host: HostStepView): WorkflowView {
  return { ...view, hosts: [...view.hosts.filter((one) => one.id !== host.id), host] };
}
