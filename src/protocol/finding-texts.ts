/**
 * Every text of a finding, of its further places and of its fix. Places in braces are filled when it is said (`say` in
 * `words.ts`): braces around anything but a single name are code. In English for the command line, programs and the errors of
 * workflows; the editor shows the translation of its language, which stands in l10n/ like all texts of the editor. No imports:
 * the script that collects texts reads this.
 */

const KEY_RULE =
  'must be a string of 1 to {max} characters: A–Z, a–z, 0–9, ".", "_", "-", beginning with a letter or digit.';

/**
 * What the schemas of launches, host steps and steering say of a value they refuse, in our own words or in those of the
 * schema library. Found again in what it says by `ruleWords`, so a longer text stands before one that begins like it.
 */
export const RULE_TEXTS = {
  'rule:blank': 'must not be blank',
  'rule:whole': 'must be a whole number',
  'rule:least': 'must be at least {least}',
  'rule:one-day': 'must be at most {most} (one day)',
  'rule:most': 'must be at most {most}',
  'rule:bytes': 'must have at most {most} bytes',
  'rule:command': 'must be "command"',
  'rule:role': 'must be "ci" or "gate"',
  'rule:mode': 'must be "steer", "follow_up" or "auto"',
  'rule:nul': 'must not contain NUL',
  'rule:relative': 'must be a relative path',
  'rule:parent': 'must not contain ".."',
  'rule:control': 'must not contain control characters',
  'rule:line': 'must be one line',
  'rule:soft': 'soft must not be larger than hard',
  'rule:type': 'Invalid input: expected {expected}, received {received}',
  'rule:value': 'Invalid input: expected {expected}',
  'rule:option': 'Invalid option: expected one of {options}',
  'rule:small': 'Too small: expected {kind} to be {limit}',
  'rule:few': 'Too small: expected {kind} to have {limit}',
  'rule:large': 'Too big: expected {kind} to be {limit}',
  'rule:many': 'Too big: expected {kind} to have {limit}',
  'rule:pattern': 'Invalid string: must match pattern {pattern}',
  'rule:key': 'Unrecognized key: {keys}',
  'rule:keys': 'Unrecognized keys: {keys}',
  'rule:input': 'Invalid input',
} as const satisfies Record<string, string>;

export const FINDING_TEXTS = {
  ...RULE_TEXTS,
  'rules:more': 'and {count} more',

  // The script as a whole
  script_empty: 'The workflow script must not be empty.',
  script_too_large: 'The workflow script has {size} bytes; at most {max} are possible.',
  script_too_deep: 'The script nests too deeply to be read. Write it in smaller steps.',
  'script_too_deep:memory': 'The script needs too much memory to be read. Write it in smaller steps.',
  script_too_slow: 'Reading the script took longer than {seconds} seconds and was given up. Make it smaller.',
  syntax: 'The script must be valid JavaScript: {problem}.',
  'syntax:module': 'scripts have no import and no export; all they can use is global',
  'syntax:end': 'the script ends in the middle of something that was begun',
  'syntax:token': 'unexpected {token}',
  'syntax:type': 'unexpected {token}; types are TypeScript, which scripts do not know',
  'syntax:fence':
    'A Markdown fence inside a template literal ends it: write such a text as an array of quoted lines, joined with "\\n".',
  nested_async: [
    'Nested async functions are not supported; no children were launched. Instead:',
    '(1) await at the top level;',
    '(2) a plain function that returns the launch: const review = (key) => runs.run(key, {agent: "reviewer", task});',
    '(3) a promise chain: runs.run("scan", p).then((scan) => runs.run("fix", q(scan))).',
    'Parallel lanes of two steps each: await Promise.all(parts.map((p) => runs.run(p, a).then((r) => runs.run(p + ".check", b(r))))).',
  ].join('\n'),
  unreachable_code: 'This code is never reached.',
  'unreachable_code:end': 'Nothing behind this statement is reached.',
  findings_left_out: '{count} further findings are not listed. Correct some of these first.',

  // Names
  did_you_mean: 'Did you mean "{name}"?',
  agent_not_found: 'There is no agent named "{name}". Agents here: {known}.',
  runs_member: 'runs has no "{name}". It has {known}.',
  runs_shadowed:
    '"runs" is the name by which children are launched; what is called so here hides it, and is not checked.',
  global_missing: '"{name}" does not exist in workflow scripts.',
  'instead:process': 'There is no process: the script has no environment and no file system.',
  'instead:require': 'Nothing can be loaded. Let a child do what needs a package.',
  'instead:module': 'A workflow script is no module; its result is what it returns.',
  'instead:global': 'Use globalThis.',
  'instead:Buffer': 'There is no Buffer: results are texts and JSON.',
  'instead:fetch': 'There is no network. Let a child fetch it.',
  'instead:URL': 'There is no URL.',
  'instead:TextEncoder': 'There is no TextEncoder.',
  'instead:TextDecoder': 'There is no TextDecoder.',
  'instead:crypto': 'There is no crypto. Random names would differ when a run is continued.',
  'instead:structuredClone': 'Use JSON.parse(JSON.stringify(value)).',
  'instead:queueMicrotask': 'Use a promise.',
  'instead:performance': 'There is no performance; Date.now() is the time of the last answer.',
  'instead:timeout': 'There are no timers. Give a launch a timeoutMs.',
  'instead:setImmediate': 'There are no timers.',
  'instead:Intl': 'There is no Intl, so that a script does the same everywhere.',
  'instead:document': 'There is no document.',

  // Keys
  key_of: 'key of {what}',
  'key_of:item': 'key of an item of runs.all',
  'key_of:made': 'key made of lane and stage',
  key_format: `The {what} is {value}; it ${KEY_RULE}`,
  'key_format:no-text': `The {what} ${KEY_RULE}`,
  key_missing: 'The {what} is missing.',
  duplicate_key:
    'The key "{key}" is used for two launches with different parameters. One key is one child: name the second one differently.',
  'duplicate_key:batch': 'Nothing of this batch is started.',
  'duplicate_key:maybe': 'If both are reached, the second one fails.',
  'duplicate_key:host':
    'The key "{key}" is used twice. A host step cannot share its key; if both are reached, the second one fails.',
  'duplicate_key:first': 'First use of "{key}".',
  output_shared: '"{first}" and "{second}" would both write {path}. Give each an output of its own.',
  'output_shared:batch': 'Nothing of this group is started.',
  'output_shared:maybe': 'If both are reached and the first one does not fail, the second one is refused.',
  'output_shared:first': 'The output of "{key}".',
  steer_key_unknown: 'No child with the key "{key}" is ever launched, so there is nobody to steer.',

  // What is launched
  item: 'an item of runs.all',
  stage: 'a stage',
  'stage:number': 'stage {stage} of lane {lane}',
  lane: 'lane {lane}',
  'argument_missing:run': 'runs.run needs its parameters: runs.run(key, {agent, task}).',
  'argument_missing:all': 'runs.all needs an array of items: runs.all([{key, agent, task}]).',
  'argument_missing:lanes': 'runs.lanes needs an array of lanes: runs.lanes([{key, stages}]).',
  'argument_missing:host': 'runs.host needs its parameters: runs.host(key, {kind: "command", command, timeoutMs}).',
  'argument_missing:status': 'runs.status needs the key of a child or a run id.',
  field_invalid: '"{name}" of {what} is {value}: {rules}.',
  'launch_field_invalid:run': 'The parameters of runs.run must be an object: {agent, task}.',
  'launch_field_invalid:item': 'Item {number} of runs.all must be an object: {key, agent, task}.',
  launch_field_removed: '{what} does not take "{name}": {instead}.',
  'instead:one-child': 'a launch is one child, by agent and task; use runs.all and plain JavaScript for more',
  'instead:clarify': 'workflows have no dialog that asks back; put what is known into the task',
  'instead:turnBudget': 'it was removed; use timeoutMs or usageBudget',
  launch_field_unknown: '{what} has no field "{name}"; it is handed on, and nothing reads it.',
  'launch_field_unknown:key': 'runs.run takes the key as its first argument; "key" among the parameters names nothing.',
  launch_agent_missing: '{what} needs "agent", the name of the agent to start (or "resume" to go on with a child).',
  'lane_metadata_invalid:key': '"lane.key" is {laneKey}; it must be the child\'s key {key}.',
  'launch_field_conflict:gate':
    '"gate" ({gate}) and "acceptance" ({acceptance}) exclude each other: a gate is an acceptance.',
  'launch_field_conflict:limits':
    '"timeoutMs" ({timeoutMs}) and "maxRuntimeMs" ({maxRuntimeMs}) are two names of one limit and differ; keep one.',
  'launch_field_conflict:isolation':
    '"isolation" is {isolation} and "worktree" is {worktree}: they say different things.',
  'launch_field_conflict:base': '"baseRef" is where a worktree starts, and this child gets none.',
  'launch_field_conflict:output': '"outputMode" is "file-only" and "output" is false: there is no file.',
  base_ref_invalid: '"baseRef" of {what} is {value}: it {reason}.',
  'base_ref:empty': 'is empty',
  'base_ref:bytes': 'has more than {max} bytes',
  'base_ref:object': 'is an object id; name a branch, a tag or HEAD',
  'base_ref:at': 'uses "@"',
  'base_ref:character': 'has a character that names of branches cannot have',
  'base_ref:slashes': 'has an empty part between slashes',
  'base_ref:dots': 'has ".."',
  'base_ref:part': 'has a part that begins or ends with "." or ends with ".lock"',
  bindings_invalid: '"extensionBindings" {reason}.',
  'bindings:count': 'must have at most {max} namespaces',
  'bindings:namespace': 'has the namespace {name}; it must be <package>/<version>, like "my-tool/1"',
  'bindings:depth': 'must be nested at most {max} levels deep',
  'bindings:properties': 'must have at most {max} properties',
  'bindings:bytes': 'must have at most {max} bytes as JSON',
  'resume_invalid:previous': '"resume" is "previous", which only the stages of runs.lanes know.',
  'resume_invalid:blank': '"resume" is blank; it must be a run id.',
  'resume_invalid:value':
    '"resume" of {what} is {value}; it must be a run id or {workflowRunId, key, latest: true}, with nothing else.',
  'resume_invalid:stage': '"resume" of a stage is {value}; only "previous" is possible.',
  'resume_invalid:beside': '"{name}" and "resume" exclude each other: a resumed child keeps what it was started with.',
  'resume_invalid:task': '{what} with "resume" needs "task": what the child is told to go on with.',

  // Lanes
  'lanes_bounds:array': 'runs.lanes takes an array of lanes; this is {value}.',
  'lanes_bounds:none': 'runs.lanes needs at least one lane.',
  'lanes_bounds:lanes': 'runs.lanes has {count} lanes; at most {max} are possible.',
  'lanes_bounds:all-stages': 'The lanes have {count} stages together; at most {max} are possible.',
  'lanes_bounds:stages': 'The lane {lane} has {count} stages; at most {max} are possible.',
  'lanes_bounds:bytes':
    'The lanes have {size} bytes as JSON; at most {max} are possible. Let children read long texts from files.',
  'lanes_field_invalid:lane': 'The lane {lane} is {value}; it must be {key, stages}.',
  'lanes_field_invalid:name': 'The lane {lane} has "{name}"; a lane has only "key" and "stages".',
  'lanes_field_invalid:stages': 'The lane {lane} needs "stages", an array with at least one stage.',
  'lanes_stage_invalid:stage':
    'Stage {stage} of lane {lane} is {value}; it must be an object with "key" and what to launch.',
  'lanes_stage_invalid:bytes': '"{name}" of {what} has more than {max} bytes.',
  'lanes_resume_first_stage:previous': 'The first stage of a lane has no previous one to resume. Start with an agent.',
  'lanes_resume_first_stage:run':
    'The first stage of a lane cannot resume a run. Start with an agent, or resume it by {call} outside lanes.',
  'lanes_key_repeated:lane': 'The stage key {key} stands twice in this lane.',
  'lanes_key_repeated:made': 'Two stages would get the key {key}. Name one of the lanes or stages differently.',

  // Host steps and steering
  host_field_unknown: 'runs.host does not know "{name}". It takes {known}.',
  'host_field_unknown:cwd':
    'runs.host has no "cwd": a host step runs in the folder of the workflow. Set cwd on the request that starts the workflow, or change the folder inside the command.',
  'host_field_invalid:object': 'The parameters of runs.host must be an object.',
  'host_field_invalid:kind': 'runs.host needs "kind": "command".',
  'host_field_invalid:command': 'runs.host needs "command", the shell command to run.',
  host_timeout_missing: 'runs.host needs "timeoutMs": after how many milliseconds, 1 to {max}, the command is ended.',
  'steer_argument_invalid:message': 'The message of runs.steer is {value}; it must be a string that is not blank.',
  'steer_argument_invalid:options': 'The options of runs.steer are {value}; they must be an object.',
  'steer_argument_invalid:name': 'runs.steer does not know the option "{name}". It takes mode, index and ackTimeoutMs.',

  // Values
  'value:missing': 'missing',
  'value:expression': 'an expression',
  'not_json:run': 'The parameters of runs.run must be JSON; this is {found}.',
  'not_json:host': 'The parameters of runs.host must be JSON; this is {found}.',
  'not_json:item': 'An item of runs.all must be JSON; this is {found}.',
  'not_json:lanes': 'The lanes must be JSON; this is {found}.',
  'not_json:result': 'The result of a workflow must be JSON; this is {found}.',
  'not_json:emit': 'emit takes JSON; this is {found}.',
  'not_json:state': 'state.set takes JSON; this is {found}.',
  'not_json:gap': 'Item {number} of runs.all is missing: the array has a gap.',
  'not_json:emit-nothing': 'emit needs a value: emit(value).',
  'not_json:state-nothing': 'state.set needs a value: state.set(key, value).',
  'found:function': 'a function',
  'found:bigint': 'a bigint',
  'found:regex': 'a regular expression',
  'found:promise': 'a promise (await it first)',
  'found:gaps': 'an array with gaps',

  // Results of batches
  batch_not_array: 'runs.all takes an array of items, each {key, agent, task}; the results come in the same order.',
  batch_keyed_read:
    '"{name}" is read from the results of runs.all. runs.all gives an array in the order of its items, no map of keys: use destructuring, an index or map.',
  'batch_keyed_read:index': 'The index of "{name}" is {index}.',
  'batch_keyed_read:item': '"{name}" is the key of this item.',

  // Launches that nobody waits for
  launch_unobserved: 'Nobody waits for this {what}: the workflow fails at its end.',
  launch_maybe_unobserved:
    'Nobody seems to wait for this {what}; unless something else does, the workflow fails at its end.',
  'unobserved:launch': 'Await it, return it, or put several into one: await runs.all([{key, agent, task}, …]).',
  'unobserved:step': 'Await it or return it.',
  'unobserved:handler': 'forEach throws away what its function returns; use map within Promise.all.',
  'unobserved:read':
    '{read} belongs to the result, which is there after await. Nobody waits for this launch, so the workflow fails at its end.',
  launch_output_unawaited: '{read} of a promise is undefined: the result of {what} is there after await.',
  'read:name': '"{name}"',
  'read:pattern': 'What is read here',

  // How much is launched
  spawn_budget:
    'The script launches at least {count} children ({keys}); maxSubagentSpawnsPerRun is {max}. Raise it, or launch fewer.',
  spawn_budget_default:
    'The script launches at least {count} children ({keys}); unless more are allowed when it is started, {max} are. Set maxSubagentSpawnsPerRun.',
  spawn_count_dynamic:
    'How many children are launched is decided while the script runs; at least {count} are certain, {max} are allowed.',

  // Fixes
  'fix:plain_helper': 'Make it a plain function that returns the launch',
  'fix:promise_chain': 'Make it a plain function with a promise chain',
  'fix:destructure_batch': 'Take the results apart by their order',
  'fix:index_batch': 'Read the result by its place, {place}',
  'fix:add_await': 'Add await',
  'fix:add_timeout': 'Add timeoutMs: {timeoutMs}',
  'fix:remove_field': 'Remove "{name}"',
  'fix:rename': 'Change to "{name}"',
} as const satisfies Record<string, string>;
