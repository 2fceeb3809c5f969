/** A transcript as plain text: for the command line and for read-only documents. */
import { cutText, type TranscriptBlock, type TranscriptEntry, visible } from '../../protocol/index.ts';

/** Keeps what is shown: finished parts never change, so that a growing document only has its end replaced. */
export class TranscriptText {
  #done: string[] = [];
  #streaming = new Map<string, Extract<TranscriptEntry, { type: 'delta' }>>();
  #running = new Map<string, { title: string; text: string }>();

  add(entries: readonly TranscriptEntry[]): void {
    for (const entry of entries) this.#add(entry);
  }

  /** The parts that are finished and will not change, from the given one on. */
  finished(from: number): readonly string[] {
    return this.#done.slice(from);
  }

  toString(): string {
    const streaming = [...this.#streaming.values()]
      .map((delta) => renderBlock(deltaBlock(delta)))
      .filter((text) => text !== '');
    const live = streaming.length > 0 ? [section('assistant …', streaming.join('\n\n'))] : [];
    const running = [...this.#running.values()].map(({ title, text }) => section(`${title} …`, indent(text)));
    return [...this.#done, ...live, ...running].join('\n');
  }

  #add(entry: TranscriptEntry): void {
    switch (entry.type) {
      case 'delta': {
        const key = `${entry.kind}:${entry.index}`;
        const before = this.#streaming.get(key);
        this.#streaming.set(key, before ? { ...before, text: before.text + entry.text } : entry);
        break;
      }
      case 'message': {
        if (entry.role === 'assistant') this.#streaming.clear();
        const body = entry.blocks.map(renderBlock).filter((text) => text !== '');
        if (entry.error) body.push(`error: ${visible(entry.error)}`);
        if (entry.stopReason === 'length') body.push('(the answer was cut at the output limit)');
        if (entry.stopReason === 'aborted') body.push('(aborted)');
        const detail = entry.role === 'assistant' && entry.model ? ` (${visible(entry.model)})` : '';
        if (body.length > 0) this.#done.push(section(`${entry.role}${detail}`, body.join('\n\n')));
        break;
      }
      case 'tool.start':
        this.#running.set(entry.id, { title: `tool ${visible(entry.name)} ${shorten(entry.arguments)}`, text: '' });
        break;
      case 'tool.update': {
        const tool = this.#running.get(entry.id);
        if (tool) this.#running.set(entry.id, { ...tool, text: entry.text });
        break;
      }
      case 'tool.end': {
        const title = this.#running.get(entry.id)?.title ?? `tool ${visible(entry.name)}`;
        this.#running.delete(entry.id);
        const took = entry.durationMs === undefined ? '' : ` (${entry.durationMs} ms)`;
        this.#done.push(section(`${title}${took}${entry.isError ? ' failed' : ''}`, indent(entry.text)));
        break;
      }
      case 'retry':
        this.#note(`retry ${entry.attempt} of ${entry.maxAttempts} in ${entry.delayMs} ms: ${entry.error}`);
        break;
      case 'compaction':
        if (entry.phase === 'end')
          this.#note(`context compacted (${entry.reason})${entry.summary ? `: ${entry.summary}` : ''}`);
        break;
      case 'note':
        this.#note(entry.text);
        break;
      default:
        entry satisfies never;
    }
  }

  #note(text: string): void {
    this.#done.push(`· ${visible(text)}\n`);
  }
}

function deltaBlock(delta: Extract<TranscriptEntry, { type: 'delta' }>): TranscriptBlock {
  if (delta.kind === 'toolCall') return { type: 'toolCall', id: '', name: '…', arguments: delta.text };
  return { type: delta.kind, text: delta.text };
}

function renderBlock(block: TranscriptBlock): string {
  switch (block.type) {
    case 'text':
      return visible(block.text).trimEnd();
    case 'thinking':
      return block.text.trim() === '' ? '' : indent(block.text, '~ ');
    // The call is shown by its own tool section, with the output.
    case 'toolCall':
      return '';
    case 'image':
      return `[image ${block.mimeType}]`;
    default:
      return block satisfies never;
  }
}

function section(title: string, body: string): string {
  return `── ${title}\n${body === '' ? '' : `${body}\n`}`;
}

function indent(text: string, mark = '  '): string {
  return text === ''
    ? ''
    : visible(text)
        .trimEnd()
        .split('\n')
        .map((line) => `${mark}${line}`)
        .join('\n');
}

function shorten(text: string): string {
  const clean = visible(text).replaceAll('\n', ' ');
  return clean.length > 160 ? `${cutText(clean, 159)}…` : clean;
}
