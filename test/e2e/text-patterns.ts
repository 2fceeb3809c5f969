/** A pattern for a whole text, surrounding spaces aside; a RegExp is taken as it is. */
export function exactly(text: string | RegExp): RegExp {
  return text instanceof RegExp ? text : new RegExp(`^\\s*${literally(text)}\\s*$`);
}

/** A pattern for a text in an editor, which draws no-break spaces; a RegExp is taken as it is. */
export function withAnySpaces(text: string | RegExp): RegExp {
  return text instanceof RegExp ? text : new RegExp(literally(text).replaceAll(' ', '\\s'));
}

/** A pattern for an accessible name to which VS Code adds notes of its own: "Apple, has actions", "a.txt, preview". */
export function titled(name: string): RegExp {
  return new RegExp(`^${literally(name)}(, .*)?$`, 's');
}

/** A pattern source that matches the text itself. */
export function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
