/** What a journal says of a workflow beside its children. Pure. */
import type { HostStepView, JournalLine, WorkflowRecord, WorkflowView } from '../../protocol/index.ts';

type WorkflowLine = Extract<JournalLine, { type: `workflow.${string}` | `host.${string}` }>;

export function newWorkflow({ workflow, timeoutMs }: WorkflowRecord): WorkflowView {
  const { name, file, limits, resource, preflight } = workflow;
  return {
    name,
    file,
    steps: 0,
    lanes: [],
    hosts: [],
    emits: 0,
    console: 0,
    continued: 0,
    failure: null,
    ...(resource ? { resource } : {}),
    ...(preflight ? { preflight } : {}),
    bounds: { limits, timeoutMs },
  };
}

export function applyToWorkflow(view: WorkflowView, line: WorkflowLine): WorkflowView {
  switch (line.type) {
    case 'workflow.delivered':
      return view;
    case 'workflow.said':
      return { ...view, emits: view.emits + line.emits.length, console: view.console + line.console.length };
    case 'workflow.planned':
      return { ...view, lanes: [...view.lanes, ...line.lanes] };
    case 'workflow.stepped':
      return { ...view, steps: line.step };
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
      return { ...view, hosts: [...view.hosts.filter((one) => one.id !== id), host] };
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
