/** A transcript as Markdown, in pieces: for a file that is kept or sent on. */
import { type PanelBody, type PanelItem, visible } from '../../../protocol/index.ts';
import type { Pages } from './pages.ts';

type Whole = (ref: string) => AsyncGenerator<string>;

const TITLES = { task: 'Task', steer: 'Steer', 'follow-up': 'Message', context: 'Context' } as const;

async function* textOf(body: PanelBody, whole: Whole): AsyncGenerator<string> {
  if (body.ref === null) yield visible(body.text);
  else for await (const piece of whole(body.ref)) yield visible(piece);
}

/** What a child printed must not end the block it stands in. */
async function* fenced(language: string, body: PanelBody, whole: Whole): AsyncGenerator<string> {
  if (body.length === 0) return;
  let longest = 2;
  let run = 0;
  for await (const piece of textOf(body, whole)) {
    for (const [run] of piece.matchAll(/`+/g)) longest = Math.max(longest, run.length);
    // A run that goes on in the next piece.
    run = /`*$/.exec(piece)?.[0].length ?? 0;
    longest = Math.max(longest, run);
  }
  const fence = '`'.repeat(longest + 1 + run);
  yield `${fence}${language}\n`;
  let last = '';
  for await (const piece of textOf(body, whole)) {
    yield piece;
    last = piece.at(-1) ?? last;
  }
  yield `${last === '\n' ? '' : '\n'}${fence}\n\n`;
}

async function* itemText(item: PanelItem, whole: Whole): AsyncGenerator<string> {
  switch (item.kind) {
    case 'user':
      yield `## ${TITLES[item.origin]}\n\n`;
      yield* textOf(item.body, whole);
      yield '\n\n';
      break;
    case 'text':
      yield* textOf(item.body, whole);
      yield '\n\n';
      break;
    case 'thinking':
      yield '<details><summary>Thinking</summary>\n\n';
      yield* fenced('text', item.body, whole);
      yield '</details>\n\n';
      break;
    case 'image':
      yield `*[image ${item.mimeType}]*\n\n`;
      break;
    case 'tool': {
      const took = item.durationMs === null ? '' : `, ${item.durationMs} ms`;
      yield `### ${code(item.name)} ${code(item.title)} (${item.state}${took})\n\n`;
      yield* fenced('json', item.arguments, whole);
      yield* fenced('text', item.output, whole);
      break;
    }
    case 'turn':
      if (item.error) yield `**Error:** ${visible(item.error)}\n\n`;
      break;
    case 'retry':
      yield `*Retry ${item.attempt} of ${item.maxAttempts}: ${visible(item.error)}*\n\n`;
      break;
    case 'compaction':
      yield '## Context compacted\n\n';
      if (item.summary) yield* textOf(item.summary, whole);
      yield '\n\n';
      break;
    case 'note':
      yield `*${visible(item.text)}*\n\n`;
      break;
    case 'gap': {
      const what = item.reason === 'limit' ? 'Left out here by a limit' : 'Could not be read here';
      yield `*${what}${item.records === null ? '' : `: ${item.records} record(s)`}*\n\n`;
      break;
    }
    default:
      item satisfies never;
  }
}

function code(text: string): string {
  const clean = visible(text).replaceAll('\n', ' ').replaceAll('`', "'");
  return clean === '' ? '' : `\`${clean}\``;
}

export async function* markdownOf(title: string, pages: Pages, whole: Whole): AsyncGenerator<string> {
  yield `# ${visible(title).replaceAll('\n', ' ')}\n\n`;
  for await (const { items } of pages.groupsFrom(pages.parts.begin))
    for (const item of items) yield* itemText(item, whole);
}
