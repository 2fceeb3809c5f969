import {
  type Finding,
  type FindingCode,
  type FindingFix,
  severityOf,
  spellOut,
  type TextRange,
  type Words,
} from '../../protocol/index.ts';

interface Found {
  code: FindingCode;
  message: Words;
  range: TextRange;
  related?: { range: TextRange; message: Words }[] | undefined;
  fix?: (Omit<FindingFix, 'title'> & { title: Words }) | undefined;
}

/** What was found, in English, and with the words that other languages are made from. */
export function toFinding({ code, message, range, related, fix }: Found): Finding {
  return {
    code,
    severity: severityOf(code),
    message: spellOut(message),
    ...range,
    ...(related && { related: related.map((entry) => ({ ...entry.range, message: spellOut(entry.message) })) }),
    ...(fix && { fix: { ...fix, title: spellOut(fix.title) } }),
    words: {
      message,
      ...(related && { related: related.map((entry) => entry.message) }),
      ...(fix && { title: fix.title }),
    },
  };
}
