/** Workflows that come with Pi Lanes and are known by a name. Each may run exactly the commands it is made for. */
import * as z from 'zod/mini';
import {
  describeFaults,
  type HostGrant,
  lanesError,
  MAX_HOST_TIMEOUT_MS,
  type WorkflowResource,
} from '../../protocol/index.ts';

/** Bytes of JSON that the arguments may have. */
const MAX_ARGS_BYTES = 16 * 1024;
const CI_TIMEOUT_MS = 120_000;

export interface NamedWorkflow {
  resource: WorkflowResource;
  script: string;
  /** What the script finds in `args`. */
  args: Readonly<Record<string, unknown>>;
  /** All commands it may run. */
  grants: readonly HostGrant[];
}

interface Definition {
  version: number;
  resolve: (args: unknown) => Omit<NamedWorkflow, 'resource'>;
}

const reviewArgs = z.strictObject({ task: z.string().check(z.regex(/\S/, 'must not be blank')) });

const ciArgs = z.strictObject({
  command: z._default(z.enum(['npm test', 'npm run typecheck']), 'npm test'),
  timeoutMs: z._default(z.int().check(z.minimum(1), z.maximum(MAX_HOST_TIMEOUT_MS)), CI_TIMEOUT_MS),
});

const DEFINITIONS: Readonly<Record<string, Definition>> = {
  review: {
    version: 1,
    resolve: (args) => ({
      script: `const review = await runs.run('review', { agent: 'reviewer', task: args.task });\nreturn review.output;\n`,
      args: parsed('review', reviewArgs, args),
      grants: [],
    }),
  },
  'run-ci': {
    version: 1,
    resolve: (given) => {
      const args = parsed('run-ci', ciArgs, given);
      return {
        script: `return await runs.host('ci', {\n  kind: 'command',\n  role: 'ci',\n  command: args.command,\n  timeoutMs: args.timeoutMs,\n});\n`,
        args,
        grants: [{ key: 'ci', command: args.command }],
      };
    },
  },
};

/** Names of all there are. */
export const NAMED_WORKFLOWS: readonly string[] = Object.keys(DEFINITIONS);

/** @throws LanesError `launch_invalid` with the names there are, or with what is wrong with the arguments */
export function namedWorkflow(name: string, args: unknown = {}): NamedWorkflow {
  const wanted = name.trim();
  const definition = Object.hasOwn(DEFINITIONS, wanted) ? DEFINITIONS[wanted] : undefined;
  if (!definition) throw lanesError('launch_invalid:workflow', { name, known: NAMED_WORKFLOWS.join(', ') });
  const { version } = definition;
  return {
    resource: {
      kind: 'workflow',
      name: wanted,
      version,
      invocation: 'named',
      expansion: 'resolved',
      id: `${wanted}@${version}`,
    },
    ...definition.resolve(args),
  };
}

function parsed<T>(name: string, schema: z.ZodMiniType<T>, args: unknown): T {
  const result = schema.safeParse(args);
  if (!result.success) throw lanesError('launch_invalid:workflow-args', { name, faults: describeFaults(result.error) });
  const bytes = Buffer.byteLength(JSON.stringify(args));
  if (bytes > MAX_ARGS_BYTES)
    throw lanesError('launch_invalid:workflow-args', { name, faults: `${bytes} bytes; at most ${MAX_ARGS_BYTES}` });
  return result.data;
}
