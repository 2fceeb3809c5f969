/**
 * Markdown as sanitised nodes. HTML in it stays text, images stay text, and a link leads only to the web or to a file. What
 * markdown-it makes is sanitised once more: two locks, of which each alone would do.
 */
import DOMPurify from 'dompurify';
import MarkdownIt, { type Token } from 'markdown-it';
import { visible } from '../../src/protocol/index.ts';
import { fileReference, isEvident, linkedFile } from './file-reference.ts';

const markdown = new MarkdownIt('default', { html: false, linkify: true, typographer: false, breaks: false });
// "readme.md" is a file, not a site of Moldova; addresses need their scheme.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
markdown.validateLink = (url) => isWebLink(url) || linkedFile(url) !== undefined;

const { escapeHtml } = markdown.utils;

markdown.renderer.rules['image'] = (tokens, index) => {
  const token = tokens[index];
  return escapeHtml(visible(`![${token?.content ?? ''}](${attribute(token, 'src')})`));
};
markdown.renderer.rules['link_open'] = (tokens, index) => {
  const href = attribute(tokens[index], 'href');
  if (isWebLink(href)) return `<a href="${escapeHtml(href)}" title="${escapeHtml(href)}">`;
  const file = linkedFile(href);
  return file ? openFile(file.path, file.line) : '<a>';
};
markdown.renderer.rules['code_inline'] = (tokens, index) => {
  const content = tokens[index]?.content ?? '';
  const code = `<code>${escapeHtml(content)}</code>`;
  const file = fileReference(content);
  return file && isEvident(file) ? `${openFile(file.path, file.line)}${code}</a>` : code;
};
markdown.renderer.rules['text'] = (tokens, index) => {
  // Once more: `&#x202e;` has become a mark only now.
  const content = visible(tokens[index]?.content ?? '');
  // Inside a link there is a link already.
  return isInLink(tokens, index) ? escapeHtml(content) : withFiles(content);
};
const fenceOf = (tokens: Token[], index: number) => {
  const token = tokens[index];
  const language = /^[\w+#.-]{1,24}/.exec(token?.info.trim() ?? '')?.[0]?.toLowerCase() ?? '';
  const mark = language ? ` data-language="${escapeHtml(language)}"` : '';
  return `<pre${mark}><code>${escapeHtml(token?.content ?? '')}</code></pre>\n`;
};
markdown.renderer.rules['fence'] = fenceOf;
markdown.renderer.rules['code_block'] = fenceOf;
// Alignment comes as a style attribute, which the content security policy forbids.
for (const cell of ['th_open', 'td_open'])
  markdown.renderer.rules[cell] = (tokens, index) => {
    const align = /text-align:(left|center|right)/.exec(attribute(tokens[index], 'style'))?.[1];
    return `<${cell.slice(0, 2)}${align ? ` class="align-${align}"` : ''}>`;
  };

const ALLOWED = {
  ALLOWED_TAGS: [
    ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'strong', 'em', 's', 'code', 'pre', 'blockquote', 'a'],
    ...['ul', 'ol', 'li', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  ALLOWED_ATTR: ['href', 'title', 'start', 'class', 'data-language', 'data-path', 'data-line'],
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

/** The top-level blocks of a Markdown text, each as HTML that has not been sanitised yet. */
export function markdownBlocks(text: string): string[] {
  const environment = {};
  const tokens = markdown.parse(text, environment);
  const blocks: string[] = [];
  let from = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.level !== 0 || token.nesting === 1) continue;
    blocks.push(markdown.renderer.render(tokens.slice(from, index + 1), markdown.options, environment));
    from = index + 1;
  }
  return blocks;
}

/** Nodes of one block that are safe to show. */
export function sanitised(block: string): DocumentFragment {
  return DOMPurify.sanitize(block, ALLOWED);
}

export function isWebLink(url: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(url);
}

function attribute(token: Token | undefined, name: string): string {
  return String(token?.attrGet(name) ?? '');
}

function isInLink(tokens: Token[], index: number): boolean {
  let depth = 0;
  for (const token of tokens.slice(0, index)) {
    if (token.type === 'link_open') depth += 1;
    if (token.type === 'link_close') depth -= 1;
  }
  return depth > 0;
}

function openFile(path: string, line: number | null): string {
  return `<a href="#" data-path="${escapeHtml(path)}"${line ? ` data-line="${line}"` : ''}>`;
}

function withFiles(text: string): string {
  return text
    .split(/([^\s()[\]{}<>"'`,;!?|*]+)/)
    .map((part) => {
      const stripped = part.replace(/[.:]+$/, '');
      const file = fileReference(stripped);
      if (!file || !isEvident(file)) return escapeHtml(part);
      return `${openFile(file.path, file.line)}${escapeHtml(stripped)}</a>${escapeHtml(part.slice(stripped.length))}`;
    })
    .join('');
}
