/** Node, Pi and models. */
import type { ErrorText } from './error-text.ts';

const INSTALL_YOURSELF = 'npm install -g @earendil-works/pi-coding-agent';

export const TOOLCHAIN = {
  node_not_found: {
    message: 'No Node {floor} or newer was found. Tried {tried}.',
    hint: 'Install Node {floor} or newer, or name one in the setting piLanes.node.path (editor) or in PI_LANES_NODE.',
  },
  npm_not_found: {
    message: 'npm was not found: there is none on PATH, and none beside {node}.',
    hint: 'Install npm (it comes with Node from nodejs.org), or install Pi another way and name it in the setting piLanes.pi.path (editor) or in PI_LANES_PI.',
  },
  npm_failed: {
    message: 'npm {command} failed: {reason}.',
    hint: 'Try `npm ping` in a terminal: the registry must be reachable with the npm configuration you have there.',
  },
  'npm_failed:spawn': { message: 'npm could not be started: {reason}.', hint: 'Try `npm ping` in a terminal.' },
  'npm_failed:late': {
    message: 'npm {command} took longer than {seconds} seconds.',
    hint: 'Try `npm ping` in a terminal: the registry must be reachable with the npm configuration you have there.',
  },
  'npm_failed:answer': {
    message: 'npm view printed something that is not understood: {printed}',
    hint: 'Try the same in a terminal.',
  },
  'pi_install_failed:none': {
    message: 'The registry that npm uses has no {name} of the versions {range}.',
    hint: 'Look at what it has: npm view {name} versions',
  },
  'pi_install_failed:incomplete': {
    message: 'Pi {version} was not installed: what npm has put into {folder} is no whole Pi.',
    hint: `Try again; if it stays so, install it yourself: ${INSTALL_YOURSELF}`,
  },
  'pi_install_failed:version': {
    message: 'Pi {version} was not installed: asked for its version it said "{said}".',
    hint: `Try again; if it stays so, install it yourself: ${INSTALL_YOURSELF}`,
  },
  'pi_not_found:none': {
    message: 'Pi was not found: no path is configured, there is no `pi` on PATH, and no copy is installed in {folder}.',
    hint: `Use Install Pi… (editor) or \`pi-lanes install-pi\`, install it yourself with \`${INSTALL_YOURSELF}\`, or name its cli.js in the setting piLanes.pi.path (editor) or in PI_LANES_PI.`,
  },
  'pi_not_found:others': {
    message:
      'Pi was not found: no path is configured, what PATH has is no Pi ({files}), and no copy is installed in {folder}.',
    hint: `Use Install Pi… (editor) or \`pi-lanes install-pi\`, install it yourself with \`${INSTALL_YOURSELF}\`, or name its cli.js in the setting piLanes.pi.path (editor) or in PI_LANES_PI.`,
  },
  'pi_path_invalid:missing': {
    message: 'Pi is configured as "{path}" ({source}), which does not exist.',
    hint: 'Set it to the cli.js of @earendil-works/pi-coding-agent, to its package folder or to a `pi` executable, or remove it.',
  },
  'pi_path_invalid:folder': {
    message: 'Pi is configured as "{path}" ({source}), which is a folder that holds no Pi package.',
    hint: 'Set it to the cli.js of @earendil-works/pi-coding-agent, to its package folder or to a `pi` executable, or remove it.',
  },
  'pi_path_invalid:file': {
    message:
      'Pi is configured as "{path}" ({source}), which is no Pi: it belongs to no Pi package and does not answer --version as Pi does.',
    hint: 'Set it to the cli.js of @earendil-works/pi-coding-agent, to its package folder or to a `pi` executable, or remove it.',
  },
  pi_too_old: {
    message: 'Pi {version} ({file}) is too old; Pi Lanes needs {oldest}, and {full} for everything.',
    hint: `Update it: ${INSTALL_YOURSELF}`,
  },
  'pi_failed:refused': { message: 'Pi refused {command}: {reason}' },
  'pi_failed:refused-silently': { message: 'Pi refused {command} and gave no reason.' },
  'pi_failed:over': { message: 'Pi cannot be asked for {command}: its output has ended.' },
  'pi_failed:late': { message: 'Pi did not answer {command} within {ms} ms.' },
  'pi_failed:ended': { message: 'Pi ended before it answered {command}.' },
  'pi_failed:state': { message: "Pi's answer to get_state is not understood: {faults}" },
  'pi_failed:models': { message: "Pi's list of models is not understood: {faults}." },
  'pi_failed:unasked': {
    message: 'Pi could not be asked for its models: {reason}',
    hint: 'Try `pi --list-models` in a terminal.',
  },
  model_none: {
    message: 'Pi has no usable model.',
    hint: 'Log in with `pi` and /login, or set the API key of a provider.',
  },
  model_unknown: {
    message: 'Pi has no usable model "{name}".',
    hint: 'See `pi --list-models` for the ones it has.',
    cli: 'See `pi-lanes models` for the ones it has.',
  },
  'model_unknown:near': {
    message: 'Pi has no usable model "{name}".',
    hint: 'Did you mean {near}? See `pi --list-models` for all.',
    cli: 'Did you mean {near}? See `pi-lanes models` for all.',
  },
  'model_unknown:other': { message: 'Pi chose the model {name} although {wanted} was asked for.' },
  'model_none:left': {
    message: 'None of the models of this agent can be used. {reasons}',
    hint: 'Name one with --model, or change model and fallbackModels of the agent.',
  },
  model_skipped: { message: 'The model {name} is left out: {reason}' },
  model_excluded: {
    message: 'The model {name} is left out until {until}, because its provider failed: {reason}',
    hint: 'Name another model, or allow it again with `pi-lanes models --include {name}`.',
  },
  model_out_of_scope: {
    message: 'The model {name} is none of those that may be used: {allow}.',
    hint: 'Name one of those, or change subagents.modelScope in settings.json.',
  },
  thinking_too_high: {
    message: 'The thinking level {level} of {name} is above {max}, the highest that is allowed.',
    hint: 'Name a lower level, or change subagents.maxThinking in settings.json.',
  },
  model_ambiguous: { message: 'Several providers have a model "{name}".', hint: 'Name one of: {names}.' },
} as const satisfies Record<string, ErrorText>;
