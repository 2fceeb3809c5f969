/** How a test window ended, as seen from outside. */
export interface Ending {
  /** The exit code that the window reported. */
  readonly code?: number;
  /** Why there is none. */
  readonly trouble?: string;
}

/** What entry.cjs leaves behind when the tests came to their end. */
export interface Proof {
  readonly ok: boolean;
}

/**
 * The exit code of a test run. The window alone is not believed: it reports a killed extension host as code 0. Without
 * proof from inside the host that the tests came to their end the run has failed.
 */
export function verdict(ending: Ending, proof: Proof | undefined): { code: number; reason?: string } {
  if (!proof) {
    const reason = ending.trouble ?? 'the extension host went away before the tests came to their end';
    return { code: ending.code || 1, reason };
  }
  if (!proof.ok) return { code: ending.code || 1 }; // the window has printed why
  if (ending.trouble) return { code: 1, reason: ending.trouble };
  return { code: ending.code ?? 1 };
}
