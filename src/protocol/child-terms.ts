/** What runner and extension call things. Apart from the schemas: Pi loads this with every child, and no schema library with it. */

/** Names the file with the contract. */
export const CONTRACT_ENV = 'PI_LANES_CONTRACT';

/** Everything the runner tells the extension by environment: taken away while it loads, so that no tool inherits it. */
export const CONTRACT_VARIABLES: readonly string[] = [CONTRACT_ENV];

/** The status of Pi's screen under this key is what the extension tells the runner: the JSON of a `ChildReport`. */
export const REPORT_KEY = 'pi-lanes';
/** Status under which a Pi that is asked for its tools says them. */
export const TOOLS_KEY = 'pi-lanes-tools';
/** Said under that key before anything can be said to that Pi: from then on nothing reaches a model. */
export const TOOLS_READY = 'ready';

/** The tool by which a child gives the value that its output schema asks for. */
export const ANSWER_TOOL = 'structured_output';

/** Largest output schema, in bytes of JSON: it is part of every request to the model. */
export const MAX_OUTPUT_SCHEMA_BYTES = 64 * 1024;
/** Largest value a child may give, in bytes of JSON. */
export const MAX_STRUCTURED_OUTPUT_BYTES = 200 * 1024;
