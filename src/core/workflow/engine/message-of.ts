/** What somebody else's error says. Never throws, whatever was thrown: getters, proxies and conversions are theirs. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'an error that cannot be read';
  }
}

/** Why a signal was aborted. */
export function reasonOf(signal: AbortSignal): string {
  return messageOf(signal.reason);
}
