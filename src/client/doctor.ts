/** Checks what runs need on this machine, and says for each thing what to do when it is missing. Makes nothing in the store. */
import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Discovered } from '../core/agents/index.ts';
import { errnoOf, explainDisk } from '../core/files/index.ts';
import { newAddress } from '../core/ipc/index.ts';
import { childEnvironment, runCommand, scopeObstacle } from '../core/processes/index.ts';
import type { PiLocation } from '../core/toolchain/index.ts';
import { type ErrorValue, toErrorValue } from '../protocol/index.ts';
import { checkBundle } from './runtime.ts';
import { piLimits, type Toolbox, type Tools } from './toolbox.ts';

export interface Check {
  name: 'node' | 'pi' | 'model' | 'folder' | 'socket' | 'runtime' | 'git' | 'settings' | 'scope' | 'agents';
  state: 'ok' | 'warning' | 'error';
  text: string;
  hint?: string;
  /** What `text` and `hint` of an `error` are made from, where there is one. */
  error?: ErrorValue;
}

/** @param place folder whose agents are looked at, and whether those of its project are */
export async function examine(toolbox: Toolbox, place?: { cwd: string; projectTrusted: boolean }): Promise<Check[]> {
  const checks: Check[] = [];
  const attempt = async (name: Check['name'], look: () => Promise<Omit<Check, 'name'>>) => {
    checks.push({ name, ...(await look().catch((error: unknown) => failed(toErrorValue(error)))) });
  };
  let tools: Tools | undefined;
  await attempt('node', async () => {
    const node = await toolbox.node();
    return { state: 'ok', text: `Node ${node.version} at ${node.file} (${node.origin})` };
  });
  await attempt('pi', async () => {
    const node = await toolbox.node().catch(() => undefined);
    const self = { file: process.execPath, electron: process.versions['electron'] !== undefined };
    const pi = await toolbox.pi(node ?? self);
    tools = await toolbox.tools().catch(() => undefined);
    const limits = piLimits(pi);
    const text = `Pi ${pi.version} at ${pi.file} (${whyThisPi(pi)})`;
    return limits
      ? { state: 'warning', text, hint: `${limits} Update: npm install -g @earendil-works/pi-coding-agent` }
      : { state: 'ok', text };
  });
  await attempt('model', async () => {
    if (!tools) return { state: 'error', text: 'Not looked at: Node or Pi is missing.' };
    const usable = await tools.models.usable(0);
    await tools.models.resolve(undefined);
    const names = usable.models.map((model) => model.name);
    const listed = names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
    return { state: 'ok', text: `${names.length} usable (${listed}); default ${usable.defaultModel ?? 'none'}` };
  });
  await attempt('folder', async () => {
    await checkWritable(toolbox.root.root);
    return { state: 'ok', text: `Runs are kept in ${toolbox.root.projects}` };
  });
  await attempt('socket', async () => ({ state: 'ok', text: `Sockets like ${await newAddress(toolbox.env)}` }));
  await attempt('runtime', async () => {
    const hash = await checkBundle(toolbox.distDirectory);
    return { state: 'ok', text: `Pi Lanes ${toolbox.client.version}, runtime ${hash}` };
  });
  await attempt('git', async () => {
    const result = await runCommand(
      { file: 'git', args: ['--version'] },
      { timeoutMs: 5000, env: childEnvironment(toolbox.env) },
    );
    if (result.exitCode === 0) return { state: 'ok', text: result.stdout.trim() };
    return {
      state: 'error',
      text: 'git was not found',
      hint: 'Install git and put it on PATH; inside a repository nothing can be started without it.',
    };
  });
  checks.push(await checkSettings(toolbox));
  if (place) await attempt('agents', async () => checkAgents(await toolbox.discoverAgents(place.cwd, place)));
  if (await toolbox.systemdScope().catch(() => false)) {
    await attempt('scope', async () => {
      const obstacle = await scopeObstacle(toolbox.env);
      if (obstacle === undefined) return { state: 'ok', text: 'Runners get scopes of systemd of their own' };
      const hint = 'Runners are started as usual. Log in through systemd, or turn piLanes.runner.systemdScope off.';
      return { state: 'warning', text: `No scope of systemd can be made: ${obstacle}`, hint };
    });
  }
  return checks;
}

/** The places are looked at in this order: what is configured, `PATH`, the copy of Install Pi…. */
function whyThisPi({ place, origin }: PiLocation): string {
  if (place === 'configured') return `${origin}, which goes before PATH and installed copies`;
  if (place === 'path') return `${origin}; no path is configured`;
  return `${origin}; no path is configured and PATH has none`;
}

/** Each setting for itself: one that is wrong says nothing about what the others are for. */
async function checkSettings(toolbox: Toolbox): Promise<Check> {
  const reads = [toolbox.piPath(), toolbox.nodePath(), toolbox.retentionDays(), toolbox.systemdScope()];
  const faults = (await Promise.allSettled(reads)).flatMap((read) =>
    read.status === 'rejected' ? [toErrorValue(read.reason)] : [],
  );
  const [first] = faults;
  if (!first) return { name: 'settings', state: 'ok', text: `Settings of all clients: ${toolbox.root.config}` };
  // A file that is not JSON says the same of every setting.
  const text = [...new Set(faults.map(({ message }) => message))].join(' ');
  return { name: 'settings', ...failed({ ...first, message: text }) };
}

const FAULTS_LISTED = 5;

/** Settings that cannot be read stop every launch, a definition only those of its agent. */
function checkAgents({ agents, diagnostics }: Discovered): Omit<Check, 'name'> {
  const faults = diagnostics.filter(({ severity }) => severity !== 'info');
  const text = `${agents.length} agents`;
  if (faults.length === 0) return { state: 'ok', text };
  const listed = faults
    .slice(0, FAULTS_LISTED)
    .map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`);
  const more = faults.length > FAULTS_LISTED ? [`and ${faults.length - FAULTS_LISTED} more`] : [];
  return {
    state: faults.some(({ code }) => code === 'settings_invalid') ? 'error' : 'warning',
    text: `${text}; ${[...listed, ...more].join(' ')}`,
    hint: 'See all of them with `pi-lanes agents`, or as problems in the editor.',
  };
}

/** The folder, or where it is not there yet the one it will be made in. Throws `store_unwritable`. */
async function checkWritable(folder: string): Promise<void> {
  try {
    await access(folder, constants.W_OK | constants.R_OK | constants.X_OK);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || dirname(folder) === folder) throw explainDisk(error);
    await checkWritable(dirname(folder));
  }
}

function failed(error: ErrorValue): Omit<Check, 'name'> {
  return { state: 'error', text: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }), error };
}
