/**
 * A lit directive that shows Markdown and changes only the blocks that have changed, so that a streamed answer costs what
 * its last block costs, and a selection in what came before stays.
 */
import { type ElementPart, noChange, nothing, render } from 'lit';
import { Directive, directive, type PartInfo, PartType } from 'lit/directive.js';
import { icon } from '../shared/icons.ts';
import type { Highlighter } from './highlight.ts';
import { markdownBlocks, sanitised } from './markdown.ts';
import { messageText } from './shown-text.ts';

export interface MarkdownSurroundings {
  readonly highlighter: Highlighter;
  /** Name of the button that copies a code block. */
  readonly copyCode: string;
}

class MarkdownView extends Directive {
  #shown: { html: string; nodes: Node[] }[] = [];
  #text: string | undefined;

  constructor(part: PartInfo) {
    super(part);
    if (part.type !== PartType.ELEMENT) throw new Error('markdown() stands in the tag of the element it fills');
  }

  render(_text: string, _streaming: boolean, _surroundings: MarkdownSurroundings): unknown {
    return nothing;
  }

  override update(part: ElementPart, [text, streaming, surroundings]: Parameters<this['render']>): unknown {
    if (text !== this.#text || !streaming) this.#show(part.element, text, streaming, surroundings);
    this.#text = text;
    return noChange;
  }

  #show(host: Element, text: string, streaming: boolean, surroundings: MarkdownSurroundings): void {
    const blocks = markdownBlocks(messageText(text));
    let same = 0;
    while (same < blocks.length && blocks[same] === this.#shown[same]?.html) same += 1;
    for (const { nodes } of this.#shown.splice(same)) for (const node of nodes) node.parentNode?.removeChild(node);
    for (const html of blocks.slice(same)) {
      const fragment = sanitised(html);
      for (const block of fragment.querySelectorAll('pre')) dress(block, surroundings.copyCode);
      const nodes = [...fragment.childNodes];
      host.append(fragment);
      this.#shown.push({ html, nodes });
    }
    // The last block of a streamed text changes with every piece: it is coloured when it is whole.
    const settled = streaming ? this.#shown.slice(0, -1) : this.#shown;
    for (const { nodes } of settled)
      for (const node of nodes) if (node instanceof HTMLElement) colourLater(node, surroundings.highlighter);
  }
}

export const markdown = directive(MarkdownView);

function dress(block: HTMLElement, copyCode: string): void {
  block.tabIndex = 0;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'icon-button copy-code';
  button.dataset['action'] = 'copy-code';
  button.title = copyCode;
  button.setAttribute('aria-label', copyCode);
  render(icon('copy'), button);
  const frame = document.createElement('div');
  frame.className = 'code-block';
  block.replaceWith(frame);
  frame.append(block, button);
}

function colourLater(node: HTMLElement, highlighter: Highlighter): void {
  for (const block of node.querySelectorAll<HTMLElement>('pre[data-language]:not([data-coloured])')) {
    block.dataset['coloured'] = '';
    highlighter.later(block);
  }
}
