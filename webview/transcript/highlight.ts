/** Colours of code blocks, put on in idle time: text is there at once, colours when nothing else is to do. */
import DOMPurify from 'dompurify';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

const LANGUAGES = {
  bash,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};

/** Longer blocks stay plain: nobody reads colours in them, and they would stop the page for long. */
const MAX_CHARS = 20_000;

/** Colours `<pre data-language>` blocks that are still shown. */
export class Highlighter {
  readonly #done: () => void;
  readonly #waiting = new Set<HTMLElement>();
  #asked = false;
  #registered = false;

  /** `done` follows every time blocks have been coloured: their text nodes are others then. */
  constructor(done: () => void) {
    this.#done = done;
  }

  later(block: HTMLElement): void {
    if ((block.textContent?.length ?? 0) > MAX_CHARS) return;
    this.#waiting.add(block);
    this.#ask();
  }

  #ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    requestIdleCallback((deadline) => this.#work(deadline), { timeout: 2000 });
  }

  #work(deadline: IdleDeadline): void {
    this.#asked = false;
    this.#registerLanguages();
    let changed = false;
    for (const block of this.#waiting) {
      this.#waiting.delete(block);
      changed = (block.isConnected && colour(block)) || changed;
      if (deadline.timeRemaining() < 4) break;
    }
    if (changed) this.#done();
    if (this.#waiting.size > 0) this.#ask();
  }

  #registerLanguages(): void {
    if (this.#registered) return;
    this.#registered = true;
    for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
  }
}

function colour(block: HTMLElement): boolean {
  const language = block.dataset['language'] ?? '';
  const code = block.querySelector('code');
  if (!code || !hljs.getLanguage(language)) return false;
  const { value } = hljs.highlight(code.textContent ?? '', { language, ignoreIllegals: true });
  code.replaceChildren(
    DOMPurify.sanitize(value, { ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'], RETURN_DOM_FRAGMENT: true }),
  );
  return true;
}
