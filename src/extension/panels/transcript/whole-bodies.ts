/** Fetches whole bodies for the extension itself, beside what the page asks for. */
import { LanesError, lanesError } from '../../../protocol/index.ts';
import { MAX_BODY_DOCUMENT_CHARS } from './body-documents.ts';
import type { Reader, SourceMessage } from './transcript-reader.ts';

/** Requests of ours; the page counts from 1. */
const FIRST_REQUEST = 1_000_000_001;

export class WholeBodies {
  #next = FIRST_REQUEST;
  readonly #waiting = new Map<number, (message: SourceMessage) => void>();

  /** Takes a message when it answers a request of ours. */
  take(message: SourceMessage): boolean {
    const take = 'request' in message && message.request !== null ? this.#waiting.get(message.request) : undefined;
    take?.(message);
    return take !== undefined;
  }

  /** At most `MAX_BODY_DOCUMENT_CHARS` of it. Throws `transcript_unreadable` when it is not there any more. */
  fetch(reader: Reader | undefined, ref: string): Promise<string> {
    const request = this.#next++;
    return new Promise((resolve, reject) => {
      let whole = '';
      const end = () => this.#waiting.delete(request);
      this.#waiting.set(request, (message) => {
        if (message.type !== 'body' || message.text === null) {
          end();
          const isFailure = message.type === 'failed';
          reject(isFailure ? new LanesError(message.error) : lanesError('transcript_unreadable:text-gone'));
          return;
        }
        whole += message.text;
        if (!message.done) {
          reader?.send({ type: 'more', request });
          return;
        }
        end();
        resolve(whole);
      });
      reader?.send({ type: 'body', request, ref, limit: MAX_BODY_DOCUMENT_CHARS });
    });
  }
}
