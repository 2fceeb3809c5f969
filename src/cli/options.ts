/** Reading a command line strictly: what is not known is refused by name, because a mistyped option must not start an agent. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { lanesError, wordsOf } from '../protocol/index.ts';

export const text = { type: 'string' } as const;
/** May be given several times. */
export const texts = { type: 'string', multiple: true } as const;
export const flag = { type: 'boolean' } as const;

type Options = NonNullable<ParseArgsConfig['options']>;

/** How many words a command takes, and what is missing when there are fewer. */
export interface Words {
  min: number;
  max: number;
  /** What is said when there is none at all. Default: that the run is missing. */
  missing?:
    | 'launch_invalid:no-script'
    | 'launch_invalid:no-agent-name'
    | 'launch_invalid:no-import-file'
    | 'launch_invalid:no-lanes'
    | 'launch_invalid:no-branch'
    | 'launch_invalid:no-plan';
  /** Options that there are, but for another use of the command, and what is said about that. */
  elsewhere?: { options: Options; text: 'launch_invalid:option-of-agent' | 'launch_invalid:option-of-workflow' };
}

/** Throws `launch_invalid` with the option, its value and the rule in one sentence. `--json` is an option of every command. */
export function parse<T extends Options>(args: string[], options: T, words: Words) {
  const known: Options = { ...options, json: flag };
  checkOptions(args, known, words);
  const parsed = (() => {
    const config = { args: joined(args, known), options: { ...options, json: flag } };
    try {
      return parseArgs({ ...config, allowPositionals: true, strict: true });
    } catch (error) {
      throw lanesError('launch_invalid:options', { reason: wordsOf(error) });
    }
  })();
  const { length } = parsed.positionals;
  if (length < words.min)
    throw lanesError(
      words.missing &&
        (length === 0 || words.missing === 'launch_invalid:no-lanes' || words.missing === 'launch_invalid:no-branch')
        ? words.missing
        : length === 0
          ? 'launch_invalid:no-run'
          : 'launch_invalid:no-message',
    );
  if (length > words.max) {
    throw lanesError('launch_invalid:too-many', { word: parsed.positionals[words.max] ?? '' });
  }
  return parsed;
}

/** The first word of a command, wherever options stand, and the arguments without it. */
export function takeWord(args: readonly string[], options: Options): { word: string | undefined; others: string[] } {
  const config = {
    args: [...args],
    options: { ...options, json: flag },
    allowPositionals: true,
    strict: false,
  } as const;
  const word = parseArgs({ ...config, tokens: true }).tokens.find(({ kind }) => kind === 'positional');
  return word === undefined
    ? { word, others: [...args] }
    : { word: args[word.index], others: args.toSpliced(word.index, 1) };
}

/** The platform's own words name neither the value nor what would be right. */
function checkOptions(args: string[], known: Options, words: Words): void {
  const { tokens } = parseArgs({ args, options: known, allowPositionals: true, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!option) {
      if (words.elsewhere && Object.hasOwn(words.elsewhere.options, name))
        throw lanesError(words.elsewhere.text, { option: rawName });
      // Whoever says something to an agent may well begin with a dash.
      throw words.max > 0
        ? lanesError('launch_invalid:option-or-text', { option: rawName, text: args[token.index] ?? '' })
        : lanesError('launch_invalid:option', { option: rawName });
    }
    if (option.type === 'boolean') {
      if (value !== undefined) throw lanesError('launch_invalid:flag-value', { option: rawName, value });
    } else if (value === undefined) {
      throw lanesError('launch_invalid:no-value', { option: rawName });
    } else if (!inlineValue && /^-\D/.test(value)) {
      throw lanesError('launch_invalid:dash-value', { option: rawName, value });
    }
  }
}

/** `--days -1` is a value like any other: that it is none of those allowed is for whoever reads it to say. */
function joined(args: string[], known: Options): string[] {
  const { tokens } = parseArgs({ args, options: known, allowPositionals: true, strict: false, tokens: true });
  const result = [...args];
  for (const token of tokens.toReversed()) {
    if (token.kind !== 'option' || token.value === undefined || token.inlineValue) continue;
    result.splice(token.index, 2, `${token.rawName}=${token.value}`);
  }
  return result;
}
