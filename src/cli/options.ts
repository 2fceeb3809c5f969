/** Reading a command line strictly: what is not known is refused by name, because a mistyped option must not start an agent. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { LanesError } from '../protocol/index.ts';

export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;

type Options = NonNullable<ParseArgsConfig['options']>;

/** How many words a command takes, and what is missing when there are fewer. */
export interface Words {
  min: number;
  max: number;
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
      throw refused(error instanceof Error ? error.message : String(error));
    }
  })();
  const { length } = parsed.positionals;
  if (length < words.min) throw refused(length === 0 ? 'The run is missing.' : 'The message is missing.');
  if (length > words.max) {
    throw refused(
      `"${parsed.positionals[words.max]}" is one word too many.`,
      'Quote a text with spaces; see `pi-lanes help`.',
    );
  }
  return parsed;
}

/** The platform's own words name neither the value nor what would be right. */
function checkOptions(args: string[], known: Options, words: Words): void {
  const { tokens } = parseArgs({ args, options: known, allowPositionals: true, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!option) {
      // Whoever says something to an agent may well begin with a dash.
      const hint = `A text that begins with "-" stands behind "--": pi-lanes … -- "${args[token.index]}". See \`pi-lanes help\`.`;
      throw words.max > 0
        ? refused(`There is no option "${rawName}".`, hint)
        : refused(`There is no option "${rawName}".`);
    }
    if (option.type === 'boolean') {
      if (value !== undefined)
        throw refused(`${rawName} is "${value}"; it takes no value.`, `Give ${rawName} alone, or leave it out.`);
    } else if (value === undefined) {
      throw refused(`${rawName} needs a value, and nothing stands behind it.`);
    } else if (!inlineValue && /^-\D/.test(value)) {
      throw refused(
        `${rawName} needs a value, and "${value}" stands behind it.`,
        `If that is its value, write ${rawName}=${value}.`,
      );
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

function refused(message: string, hint = 'See `pi-lanes help`.'): LanesError {
  return new LanesError('launch_invalid', message, hint);
}
