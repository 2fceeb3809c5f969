/** `discoverAgents`: which agents there are for a folder. Documented in docs/api.md. */
import { resolve } from 'node:path';
import * as z from 'zod/mini';
import { AgentDiscovery } from '../core/agents/index.ts';
import { type AgentDiagnostic, describeFaults } from '../protocol/index.ts';
import type * as types from './agent-types.ts';

const folder = z.string('must be a text').check(z.refine((path) => path.trim() !== '', 'must not be blank'));
const options = z.strictObject({
  cwd: folder,
  agentDir: folder,
  home: z.optional(folder),
  scope: z.optional(z.enum(['user', 'project', 'both'])),
  provider: z.optional(z.string()),
  env: z.optional(z.record(z.string(), z.union([z.string(), z.undefined()]))),
});

// One for all calls: it keeps what it has read.
const discovery = new AgentDiscovery();

export const discoverAgents: typeof types.discoverAgents = async (given) => {
  const parsed = options.safeParse(given);
  if (!parsed.success) throw new TypeError(`The options of discoverAgents are wrong: ${describeFaults(parsed.error)}.`);
  const { cwd, agentDir, home, scope, provider, env } = parsed.data;
  const { agents, disabled, diagnostics, directories } = await discovery.discover({
    cwd: resolve(cwd),
    agentDir: resolve(agentDir),
    ...(home === undefined ? {} : { home: resolve(home) }),
    ...(scope === undefined ? {} : { scope }),
    ...(provider === undefined ? {} : { provider }),
    ...(env === undefined ? {} : { env }),
  });
  // Callers own what they are given: what is kept for the next call stays as it was read.
  return structuredClone({ agents, disabled, diagnostics: diagnostics.map(plain), directories });
};

/** Without what only translations are made from. */
function plain({ text: _text, params: _params, ...diagnostic }: AgentDiagnostic): types.AgentFileDiagnostic {
  return diagnostic;
}
