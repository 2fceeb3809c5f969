/** The child. */
import type { ErrorText } from './error-text.ts';

export const CHILD = {
  child_spawn_failed: {
    message: '{program} could not be started in {folder}: {reason}.',
    hint: 'Check that the folder exists and that Node and Pi can be run (pi-lanes doctor).',
  },
  child_handshake_timeout: {
    message: 'Pi did not answer within {seconds} s of its start.',
    hint: 'Try `pi --mode rpc` in this folder; an extension of Pi may be waiting for something.',
  },
  'child_exited:start-code': { message: 'Pi exited at its start (code {code}).' },
  'child_exited:start-signal': { message: 'Pi exited at its start (signal {signal}).' },
  'child_exited:signal': {
    message: 'The child was ended from outside by {signal}.',
    hint: 'Something other than Pi Lanes stopped it: the system running out of memory, or a person. Resume goes on with its session.',
    cli: 'Something other than Pi Lanes stopped it: the system running out of memory, or a person. `pi-lanes resume RUN` goes on with its session.',
  },
  'child_exited:aborted': { message: 'The child was aborted from outside.' },
  'child_exited:code': { message: 'The child exited with code {code} before it was done.' },
  'child_exited:after-tool': { message: 'The child ended after a tool call, before the model could answer.' },
  child_mid_tool: { message: 'The child exited (code {code}) while its tool {tool} was running.' },
  'child_empty_output:none': { message: 'The child ended without an answer.' },
  'child_empty_output:empty': { message: 'The child ended with an empty answer.' },
  structured_output_missing: {
    message:
      'The child ended without the structured output it was asked for: it gave none with its tool structured_output.',
    hint: 'What it said instead is kept as its answer. Say in the task what the output should hold, or resume the run.',
    cli: 'What it said instead is kept as its answer. Say in the task what the output should hold, or use `pi-lanes resume RUN`.',
  },
  'structured_output_missing:refused': {
    message: 'The child ended without the structured output it was asked for. What it gave was refused: {faults}.',
    hint: 'What it said instead is kept as its answer. Check the schema, or resume the run.',
    cli: 'What it said instead is kept as its answer. Check the schema, or use `pi-lanes resume RUN`.',
  },
  'structured_output_missing:unusable': {
    message: 'The structured output that the child gave cannot be used: {faults}.',
    hint: 'What it said is kept as its answer. Resume the run to have the output given again.',
    cli: 'What it said is kept as its answer. `pi-lanes resume RUN` has the output given again.',
  },
  tools_left_out: { message: 'Tools of its definition that this run does not allow are left out: {tools}.' },
  skills_missing: { message: 'Skills of its definition are not there: {skills}.' },
  'skills_missing:unread': { message: 'Its skills cannot be used: it may not read files.' },
  extensions_denied: { message: 'This run allows no extensions: those of its definition are not loaded.' },
  tools_missing: {
    message: 'The agent {agent} may use tools that Pi does not have here: {tools}.',
    hint: 'Install the Pi extension that brings them, or take them off the list in the definition of the agent.',
  },
  child_model_error: {
    message: 'The model failed: {reason}',
    hint: 'Check the model and its credentials, or try again later.',
  },
  'child_model_error:silent': {
    message: 'The model failed: the provider gave no reason',
    hint: 'Check the model and its credentials, or try again later.',
  },
  child_output_cut: {
    message: "The model's answer was cut at its output limit.",
    hint: 'Ask for a shorter answer, or use a model with a larger output limit.',
  },
  protocol_output_limit: { message: 'The child wrote a protocol line of {bytes} bytes; the limit is 16 MiB.' },
  result_unsaved: {
    message: 'The work is done, but its result could not be saved: {reason}',
    hint: 'Make the folder writable. The answer stands in the transcript.',
  },
  'result_unsaved:session': {
    message: 'The work is done, but its result could not be saved: {reason}',
    hint: 'Make the folder writable. The answer stands in the transcript and in {session}; Resume goes on with it.',
    cli: 'Make the folder writable. The answer stands in the transcript and in {session}; `pi-lanes resume RUN` goes on with it.',
  },
} as const satisfies Record<string, ErrorText>;
