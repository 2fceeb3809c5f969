export { readJournalEnd } from './journal-end.ts';
export { MAX_LINE_BYTES } from './journal-line.ts';
export { type JournalContent, JournalTail, readJournal, type SkippedRecord } from './journal-reader.ts';
export { journalLimit, MAX_JOURNAL_BYTES } from './journal-room.ts';
export { JournalWriter } from './journal-writer.ts';
