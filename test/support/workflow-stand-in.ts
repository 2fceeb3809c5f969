/** Runs a workflow script against children that answer at once, to compare what two scripts do. */

export interface StandInResult {
  /** The result as JSON; the error's name in its place. */
  value: string;
  /** Every launch, in order: key and parameters. */
  launches: string[];
}

/** Only for scripts that a test wrote: they run with the rights of the test. */
export async function runScript(script: string): Promise<StandInResult> {
  const launches: string[] = [];
  const launch = (key: string, params: unknown) => {
    launches.push(JSON.stringify([key, params]));
    return { key, ok: true, output: `output of ${key}` };
  };
  const runs = {
    run: async (key: string, params: unknown) => launch(key, params),
    all: async (items: { key: string }[]) => items.map(({ key, ...params }) => launch(key, params)),
    host: async (key: string, params: unknown) => launch(key, params),
  };
  const body = Function(`return async function (runs, emit) {${script}\n}`)();
  try {
    return { value: JSON.stringify(await body(runs, () => undefined)) ?? 'null', launches };
  } catch (error) {
    return { value: `threw ${error instanceof Error ? error.name : error}`, launches };
  }
}
