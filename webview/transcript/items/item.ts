/** An item by its kind; its name for people who do not see it; its height before it has been drawn. */
import type { TemplateResult } from 'lit';
import type { PanelItem } from '../../../src/protocol/index.ts';
import type { ItemContext } from '../item-context.ts';
import { mainBody } from '../item-text.ts';
import { firstLine } from '../shown-text.ts';
import { compactionItem, gapItem, imageItem, noteItem, retryItem, turnItem } from './marks.ts';
import { textItem, thinkingItem, userItem } from './message.ts';
import { opensByItself, toolItem } from './tool.ts';

export function itemTemplate(item: PanelItem, context: ItemContext): TemplateResult {
  switch (item.kind) {
    case 'user':
      return userItem(item, context);
    case 'text':
      return textItem(item, context);
    case 'thinking':
      return thinkingItem(item, context);
    case 'tool':
      return toolItem(item, context);
    case 'turn':
      return turnItem(item, context);
    case 'retry':
      return retryItem(item, context);
    case 'compaction':
      return compactionItem(item, context);
    case 'note':
      return noteItem(item);
    case 'image':
      return imageItem(item, context);
    case 'gap':
      return gapItem(item, context);
    default:
      return item satisfies never;
  }
}

/** What a screen reader says of an item when it gets the focus. */
export function itemName(item: PanelItem, { words }: ItemContext): string {
  const body = mainBody(item);
  const excerpt = body ? firstLine(body.text, 120) : '';
  switch (item.kind) {
    case 'user': {
      const names = {
        task: 'user.task',
        steer: 'user.steer',
        'follow-up': 'user.followUp',
        context: 'user.context',
      } as const;
      return `${words.text(names[item.origin])}: ${excerpt}`;
    }
    case 'text':
      return `${words.text('text.name')}: ${excerpt}`;
    case 'thinking':
      return `${words.text(item.streaming ? 'thinking.now' : 'thinking.done')}: ${excerpt}`;
    case 'tool': {
      const states = {
        running: 'tool.running',
        done: 'tool.done',
        failed: 'tool.failed',
        unfinished: 'tool.unfinished',
      } as const;
      return `${item.name} ${firstLine(item.title, 120)}, ${words.text(states[item.state])}`;
    }
    case 'turn':
      return item.error ? words.text('turn.error') : words.text('turn.name');
    case 'retry':
      return words.text('retry.name');
    case 'compaction':
      return words.text(item.running ? 'compaction.running' : 'compaction.done');
    case 'note':
      return firstLine(item.text, 120);
    case 'image':
      return words.text('image', item.mimeType);
    case 'gap':
      return words.text(item.reason === 'limit' ? 'gap.limit' : 'gap.damaged');
    default:
      return item satisfies never;
  }
}

/** A guess of the height in pixels, in a view of this width. */
export function estimatedHeight(item: PanelItem, width: number): number {
  const perLine = Math.max(30, width / 7.2);
  const lines = (text: string) => Math.max(1, (text.match(/\n/g)?.length ?? 0) + Math.ceil(text.length / perLine));
  switch (item.kind) {
    case 'user':
      return item.origin === 'context' ? 28 : 52 + lines(item.body.text) * 19;
    case 'text':
      return 16 + lines(item.body.text) * 20;
    case 'tool':
      return 30 + (item.diff && opensByItself(item) ? item.diff.lines.length * 19 : 0);
    case 'turn':
      return item.error ? 64 : 26;
    default:
      return 28;
  }
}
