/**
 * Names that belong to the editor or to Node's own start and must not reach a child agent or its tools, and those by which other
 * extensions tell children what they are: only a launch may say that.
 */
const NOT_INHERITED =
  /^(ELECTRON_|VSCODE_|NODE_OPTIONS$|NODE_CHANNEL_|PI_LANES_START$|PI_LANES_FAULT$|PI_LANES_CHILD$|PI_SUBAGENT_(?:CHILD|PARENT_SESSION|RUNNER_CONFIG|EXTENSION_BINDINGS)$|PI_INTERCOM_SESSION_ID$)/;

/** The environment for Pi, agents and their tools: the user's own, without what the editor added. */
export function childEnvironment(env: NodeJS.ProcessEnv, extra: Record<string, string> = {}): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !NOT_INHERITED.test(name)) result[name] = value;
  }
  return { ...result, ...extra };
}

/**
 * Every process of a child inherits this variable, so that on Linux a process that left the tree can still be found and
 * its absence proven.
 */
export const MARKER_ENV = 'PI_LANES_CHILD';

export function childMarker(runId: string, child: number | `host-${number}`): string {
  return `${runId}/${child}`;
}
