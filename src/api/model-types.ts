/** What `resolveModel` takes and gives. Imports nothing, so that it can be shipped as it is. */

/** A model as a registry has it. Further fields are kept. */
export interface RegisteredModel {
  provider: string;
  id: string;
  /** `provider/id` */
  fullId: string;
}

/**
 * Who names the model: `explicit` for one run, `configured` in an agent or in settings, `fallback` for when another fails, `inherited`
 * from the parent.
 */
export type ModelRequestSource = 'explicit' | 'configured' | 'fallback' | 'inherited';

export interface ResolveModelOptions<M extends RegisteredModel = RegisteredModel> {
  /** `provider/id`, `provider:id`, `provider.id` or an id, with an optional `:level`. */
  request: string;
  registry: readonly M[];
  /** Decides between several providers that have the id. */
  preferredProvider?: string | undefined;
  /** Default: `explicit`. It is handed back, and changes nothing about the answer. */
  source?: ModelRequestSource | undefined;
}

export type ResolvedModel<M extends RegisteredModel = RegisteredModel> =
  | {
      ok: true;
      /** `provider/id` without a level. */
      model: string;
      /** The level behind the request; absent: it has none. */
      thinking?: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
      /** Both: `provider/id:level`. */
      full: string;
      /** `exact`: the whole name; `id`; `spelling`: another spelling of the id; `unchecked`: the registry is empty. */
      match: 'exact' | 'id' | 'spelling' | 'unchecked';
      /** The model of the registry; absent when unchecked. */
      entry?: M;
      source: ModelRequestSource;
    }
  | {
      ok: false;
      code: 'model_unknown' | 'model_ambiguous';
      message: string;
      /** The next step, with the nearest name or all that could be meant. */
      hint?: string;
      /** Full ids that could be meant, the nearest first. */
      candidates: string[];
      source: ModelRequestSource;
    };

/**
 * Which model of a registry somebody means. Pure: starts nothing, reads nothing. Never chooses between several, never takes another
 * provider than the one that was named, and never a default. Throws a `TypeError` for options that are none.
 */
export declare function resolveModel<M extends RegisteredModel>(options: ResolveModelOptions<M>): ResolvedModel<M>;
