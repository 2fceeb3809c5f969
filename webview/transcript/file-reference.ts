/** Places in files that a text names, such as `src/a.ts:12`. */
export interface FileReference {
  readonly path: string;
  readonly line: number | null;
}

const NAME = String.raw`[\w@+.~-]+`;
const PATH = String.raw`(?:[A-Za-z]:[\\/]|~?[\\/]|\.{1,2}[\\/])?(?:${NAME}[\\/])*${NAME}\.[A-Za-z]\w{0,9}`;
const LINE = String.raw`(?::(\d{1,7})(?::\d{1,5})?(?:-\d{1,7})?|#L(\d{1,7})(?:-L?\d{1,7})?)?`;
const WHOLE = new RegExp(`^(${PATH})${LINE}$`);

/** The reference that a whole text is; undefined: it is none. */
export function fileReference(text: string): FileReference | undefined {
  if (text.length > 400) return undefined;
  const found = WHOLE.exec(text);
  if (!found?.[1]) return undefined;
  return { path: found[1], line: Number(found[2] ?? found[3] ?? 0) || null };
}

/** In running text only what cannot be mistaken: with a folder or a line. */
export function isEvident(reference: FileReference): boolean {
  return reference.line !== null || /[\\/]/.test(reference.path);
}

/** The same reference as a path of a Markdown link, which is percent-encoded. */
export function linkedFile(href: string): FileReference | undefined {
  try {
    return fileReference(decodeURIComponent(href).replace(/^file:\/\/(?=\/)/, ''));
  } catch {
    return undefined;
  }
}
