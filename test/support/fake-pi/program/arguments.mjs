// Pi's command line, as far as a child agent is started with it. Every version refuses what it does not know.

/** Flags with a value, and since which ability. */
const WITH_VALUE = {
  '--mode': 'mode',
  '--model': 'model',
  '--provider': 'provider',
  '--thinking': 'thinking',
  '--session': 'session',
  '--session-id': 'sessionId',
  '--fork': 'fork',
  '--session-dir': 'sessionDir',
  '--name': 'name',
  '--tools': 'tools',
  '--exclude-tools': 'excludeTools',
  '--system-prompt': 'systemPrompt',
  '--append-system-prompt': 'appendSystemPrompt',
  '--extension': 'extension',
  '-e': 'extension',
  '--skill': 'skill',
  '--prompt-template': 'promptTemplate',
};

const ALONE = {
  '--version': 'wantsVersion',
  '-v': 'wantsVersion',
  '--list-models': 'wantsModels',
  '--no-session': 'noSession',
  '--no-tools': 'noTools',
  '--no-builtin-tools': 'noBuiltinTools',
  '--no-extensions': 'noExtensions',
  '-ne': 'noExtensions',
  '--no-skills': 'noSkills',
  '-ns': 'noSkills',
  '--no-prompt-templates': 'noPromptTemplates',
  '-np': 'noPromptTemplates',
  '--no-themes': 'noThemes',
  '--no-context-files': 'noContextFiles',
  '-nc': 'noContextFiles',
  '--approve': 'approve',
  '--no-approve': 'noApprove',
  '--offline': 'offline',
};

const NEEDS = {
  '--session-id': 'sessionIds',
  '--name': 'names',
  '--approve': 'trust',
  '--no-approve': 'trust',
  '--exclude-tools': 'excludesTools',
};

/** @returns `{ values, error }`; `error` is the text Pi would print, or undefined */
export function readArguments(args, abilities) {
  const values = {};
  for (let at = 0; at < args.length; at++) {
    const flag = args[at];
    const unknown = { values, error: `Unknown option: ${flag}` };
    if (NEEDS[flag] !== undefined && !abilities[NEEDS[flag]]) return unknown;
    if (ALONE[flag] !== undefined) values[ALONE[flag]] = true;
    else if (WITH_VALUE[flag] !== undefined && at + 1 < args.length) values[WITH_VALUE[flag]] = args[++at];
    else return unknown;
  }
  return { values, error: undefined };
}
