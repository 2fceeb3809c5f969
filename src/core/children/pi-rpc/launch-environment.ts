/** What extensions in a child are told by its environment. */
import { type ChildPlan, canonicalJson } from '../../../protocol/index.ts';

export function launchEnvironment({ extensionBindings, wait }: ChildPlan): Record<string, string> {
  return {
    ...(extensionBindings === undefined ? {} : { PI_SUBAGENT_EXTENSION_BINDINGS: canonicalJson(extensionBindings) }),
    ...(wait === undefined
      ? {}
      : {
          PI_SUBAGENT_WAIT_TOOL_ENABLED: String(wait.enabled),
          PI_SUBAGENT_WAIT_TOOL_DEFAULT_TIMEOUT_MS: String(wait.defaultTimeoutMs),
        }),
  };
}
