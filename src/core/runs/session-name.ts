import { cutText } from '../../protocol/index.ts';

/** `<agent> · <label>`, one line, at most 96 characters. */
export function sessionName(agent: string, label: string): string {
  const name = cutText(`${agent} · ${label}`, 400)
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  const chars = [...name];
  let cut = name;
  while (cut.length > 96) {
    chars.pop();
    cut = `${chars.join('')}…`;
  }
  return cut;
}
