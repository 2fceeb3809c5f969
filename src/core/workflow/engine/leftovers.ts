/**
 * What a history holds of steps that do not hold any more. What became of children, commands and messages is a fact, whatever the
 * script does with it: one that is asked for again, under the same key and fingerprint, gets its fact without being carried out again.
 * State and status are read and written again: that does no harm, and what they were then may be wrong now.
 */
import type { WorkflowAsk } from '../../../protocol/index.ts';
import type { AskedFact } from './effects.ts';
import type { KnownStep } from './history.ts';

/** `known`: its fact is ready. `again`: it may have been started by an earlier process. */
export type Claim = 'known' | 'again' | 'new';

type Asked = Pick<WorkflowAsk, 'key' | 'asked'>;

const KEPT: ReadonlySet<string> = new Set<WorkflowAsk['type']>(['launch', 'host', 'steer']);

export class Leftovers {
  readonly #facts: { fact: AskedFact; from: KnownStep }[] = [];
  readonly #asks: WorkflowAsk[] = [];
  #ready: { fact: AskedFact; from: KnownStep }[] = [];

  /** A step that does not hold any more. */
  add(step: KnownStep): void {
    for (const fact of step.facts) this.#facts.push({ fact, from: step });
    this.expect(step.stepped?.asks ?? []);
  }

  /** What earlier processes asked for and may have started. */
  expect(asks: readonly WorkflowAsk[]): void {
    this.#asks.push(...asks);
  }

  /** These facts are in a step that holds. */
  answered(facts: readonly AskedFact[]): void {
    for (const fact of facts) this.#takeFact(fact);
  }

  /** These asks are in a step that holds. */
  asked(asks: readonly WorkflowAsk[]): void {
    for (const ask of asks) this.#takeAsk(ask);
  }

  /** What is known of something that is to start now. */
  claim(ask: WorkflowAsk): Claim {
    const known = KEPT.has(ask.type) ? this.#takeFact(ask) : undefined;
    const again = this.#takeAsk(ask);
    if (!known) return again ? 'again' : 'new';
    this.#ready.push({ ...known, fact: { ...known.fact, id: ask.id } });
    return 'known';
  }

  get ready(): boolean {
    return this.#ready.length > 0;
  }

  /** The facts that are ready and belonged to the earliest step, with its time. */
  take(): { at: number; facts: AskedFact[] } | undefined {
    const first = this.#ready.reduce<KnownStep | undefined>(
      (earliest, { from }) => (earliest === undefined || isBefore(from, earliest) ? from : earliest),
      undefined,
    );
    if (!first) return undefined;
    const order = (fact: AskedFact) =>
      first.facts.findIndex(({ key, asked }) => key === fact.key && asked === fact.asked);
    const facts = this.#ready.filter(({ from }) => from === first).map(({ fact }) => fact);
    this.#ready = this.#ready.filter(({ from }) => from !== first);
    return { at: first.at, facts: facts.sort((one, other) => order(one) - order(other)) };
  }

  /** The fingerprint under which a child or a command has a fact, when it is asked for under another. */
  otherFingerprint({ type, key, asked }: WorkflowAsk): string | undefined {
    if (type !== 'launch' && type !== 'host') return undefined;
    const own = this.#facts.filter(({ fact }) => fact.key === key);
    if (own.length === 0 || own.some(({ fact }) => fact.asked === asked)) return undefined;
    if (this.#asks.some((ask) => ask.key === key && ask.asked === asked)) return undefined;
    return this.#asks.find(
      (ask) =>
        ask.key === key &&
        (ask.type === 'launch' || ask.type === 'host') &&
        own.some(({ fact }) => fact.asked === ask.asked),
    )?.asked;
  }

  #takeFact({ key, asked }: Asked): { fact: AskedFact; from: KnownStep } | undefined {
    const index = this.#facts.findIndex(({ fact }) => fact.key === key && fact.asked === asked);
    return index < 0 ? undefined : this.#facts.splice(index, 1)[0];
  }

  #takeAsk({ key, asked }: Asked): boolean {
    const index = this.#asks.findIndex((ask) => ask.key === key && ask.asked === asked);
    if (index >= 0) this.#asks.splice(index, 1);
    return index >= 0;
  }
}

function isBefore(one: KnownStep, other: KnownStep): boolean {
  return one.at === other.at ? one.step < other.step : one.at < other.at;
}
