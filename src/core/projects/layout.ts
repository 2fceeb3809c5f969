/** Where everything is kept. Pure path arithmetic; nothing here touches the disk. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Pi's agent folder: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`. */
export function agentDirectory(env: NodeJS.ProcessEnv = process.env, home: string = homedir()): string {
  const configured = env['PI_CODING_AGENT_DIR'];
  if (!configured) return join(home, '.pi', 'agent');
  return resolve(/^~(?=$|\/)/.test(configured) ? join(home, configured.slice(1)) : configured);
}

/** Everything of ours below the agent folder. */
export interface RootLayout {
  root: string;
  projects: string;
  runtime: string;
  cache: string;
  /** Locks of session files, whatever project they are used from. */
  sessionLocks: string;
  /** Locks of output files that living runs have claimed, whatever project they belong to. */
  claims: string;
  /** Locks of repositories, under which worktrees are made, kept and removed; of checkouts, of which one child at a time changes files. */
  repositories: string;
  checkouts: string;
  /** Lock of the client that removes old runs, and what it remembers from one pass to the next. */
  cleaning: string;
  cleaningState: string;
  /** Copies of Pi made by *Install Pi…*, one folder per version. */
  pi: string;
  config: string;
  /** Models that are left out for a while. */
  modelExclusions: string;
}

export function rootLayout(agentDir: string): RootLayout {
  const root = join(agentDir, 'pi-lanes');
  return {
    root,
    projects: join(root, 'projects'),
    runtime: join(root, 'runtime'),
    cache: join(root, 'cache'),
    sessionLocks: join(root, 'session-locks'),
    claims: join(root, 'claims'),
    repositories: join(root, 'repositories'),
    checkouts: join(root, 'checkouts'),
    cleaning: join(root, 'cleaning'),
    cleaningState: join(root, 'cleaning.json'),
    pi: join(root, 'pi'),
    config: join(root, 'config.json'),
    modelExclusions: join(root, 'model-exclusions.json'),
  };
}

export interface ProjectLayout {
  directory: string;
  identity: string;
  runs: string;
  /** One empty file per run that is not terminal, so that live runs are found without reading the others. */
  active: string;
  /** Logs of runners that have not created their run yet. */
  starting: string;
  /** What is remembered of worktrees: a folder for each run that has any. */
  worktrees: string;
  /** Plans of clean-ups of worktrees, and what was taken home into a checkout and can be taken back. */
  cleanupPlans: string;
  applications: string;
}

export function projectLayout(directory: string): ProjectLayout {
  return {
    directory,
    identity: join(directory, 'project.json'),
    runs: join(directory, 'runs'),
    active: join(directory, 'active'),
    starting: join(directory, 'starting'),
    worktrees: join(directory, 'worktrees'),
    cleanupPlans: join(directory, 'cleanup-plans'),
    applications: join(directory, 'applications'),
  };
}

export interface RunLayout {
  directory: string;
  record: string;
  journal: string;
  status: string;
  lease: string;
  log: string;
  artifacts: string;
  /** Outputs that children of a workflow name by a relative path. */
  outputs: string;
  /** Of a workflow: what its script came to, and the receipt for whoever goes on with one of its children. */
  workflowResult: string;
  receipt: string;
  /** What is to be brought home from worktrees; its runner alone writes it. */
  handoff: string;
}

export function runLayout(directory: string): RunLayout {
  return {
    directory,
    record: join(directory, 'run.json'),
    journal: join(directory, 'journal.jsonl'),
    status: join(directory, 'status.json'),
    lease: join(directory, 'lease'),
    log: join(directory, 'runner.log'),
    artifacts: join(directory, 'artifacts'),
    outputs: join(directory, 'artifacts', 'outputs'),
    workflowResult: join(directory, 'result.json'),
    receipt: join(directory, 'receipt.json'),
    handoff: join(directory, 'handoff.json'),
  };
}

export interface ChildLayout {
  directory: string;
  /** Of a workflow: what the child was started with. */
  plan: string;
  transcript: string;
  result: string;
  stderr: string;
  sessions: string;
  systemPrompt: string;
  /** What its extension is told. */
  contract: string;
  /** The value it gave, when it was asked for one. */
  structuredOutput: string;
  /** Of its worktree: the record, and below `capture-<n>` what was kept of it. */
  worktree: string;
  worktreeRecord: string;
  /** Of the whole run: which providers are not to be asked for a while. */
  rateGate: string;
}

/** `index` counts from 1. */
export function childLayout(runDirectory: string, index: number): ChildLayout {
  const directory = join(runDirectory, 'children', String(index));
  return {
    directory,
    plan: join(directory, 'plan.json'),
    transcript: join(directory, 'transcript.jsonl'),
    result: join(directory, 'result.json'),
    stderr: join(directory, 'stderr.log'),
    sessions: join(directory, 'session'),
    systemPrompt: join(directory, 'system-prompt.md'),
    contract: join(directory, 'contract.json'),
    structuredOutput: join(directory, 'structured-output.json'),
    worktree: join(directory, 'worktree'),
    worktreeRecord: join(directory, 'worktree', 'record.json'),
    rateGate: join(runDirectory, 'rate-gate.json'),
  };
}
