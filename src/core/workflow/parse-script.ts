import { Parser, type Program } from 'acorn';
import { say, type Words } from '../../protocol/index.ts';

// acorn describes what its plugins may use only in JavaScript; this is the part that we use.
declare module 'acorn' {
  interface Parser {
    enterScope(flags: number): void;
  }
}

/** acorn's own numbers for "function" and "async". */
const ASYNC_FUNCTION_SCOPE = 2 | 4;

/**
 * Parses a text as the body of an async function, without any wrapper that a `}` in it could close: `await` and `return` are
 * legal at the top, `await` is no name there, functions may be declared twice.
 */
class BodyParser extends Parser {
  override parse(): Program {
    this.enterScope(ASYNC_FUNCTION_SCOPE);
    return super.parse();
  }
}

export type ParsedScript =
  | { program: Program }
  /** `at`: offset of the place where the parser gave up. */
  | { problem: Words; at: number };

/** Throws `RangeError` when the nesting is deeper than the stack. */
export function parseScript(script: string): ParsedScript {
  try {
    return { program: BodyParser.parse(script, { ecmaVersion: 'latest', sourceType: 'script', allowHashBang: false }) };
  } catch (error) {
    if (error instanceof SyntaxError && 'pos' in error && typeof error.pos === 'number') {
      if (error.message.startsWith('Not enough stack space')) throw new RangeError(error.message);
      return { problem: problemOf(error.message, script, error.pos), at: error.pos };
    }
    throw error;
  }
}

/** The parser's words, where they tell something; in our own where they speak of what scripts do not know. */
function problemOf(message: string, script: string, at: number): Words {
  const words = message.replace(/ \(\d+:\d+\)$/, '');
  if (words.startsWith("'import' and 'export'")) return say('syntax:module');
  if (words !== 'Unexpected token') return words;
  if (script.slice(at).trim() === '') return say('syntax:end');
  const token = /^(?:[\w$]+|.)/u.exec(script.slice(at))?.[0] ?? '';
  return say(token === ':' ? 'syntax:type' : 'syntax:token', { token: JSON.stringify(token) });
}
