import { cutText } from '../../protocol/index.ts';

/** A title as the name of a document: letters, digits, dots, dashes and single spaces. */
export function documentName(title: string): string {
  const plain = title
    .replace(/[^\p{L}\p{N} ._-]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return cutText(plain, 60) || 'workflow';
}
