// What a version of Pi does differently, from its changelog and from traces of 0.73.1, 0.80.10 and 1.6.0.

/** Whether `version` ("1.6.0") is at least `floor`. */
export function atLeast(version, floor) {
  const numbers = (text) => text.split(/[.-]/).slice(0, 3).map(Number);
  const own = numbers(version);
  const wanted = numbers(floor);
  for (const [index, value] of wanted.entries()) {
    if (own[index] !== value) return own[index] > value;
  }
  return true;
}

/** The differences a client can see, by name. */
export function abilitiesOf(version) {
  const since = (floor) => atLeast(version, floor);
  return {
    sessionIds: since('0.76.0'),
    names: since('0.78.0'),
    trust: since('0.79.0'),
    /** The error for an unknown command carries the command's id. */
    unknownCommandIds: since('0.79.7'),
    excludesTools: since('0.80.0'),
    entries: since('0.80.3'),
    /** `agent_settled` and `agent_end.willRetry`; also `--version` on stdout instead of stderr. */
    settles: since('0.80.4'),
    thinkingLevels: since('0.81.0'),
    /** `message_update` holds the delta only, not the whole message again and again. */
    deltasOnly: since('0.84.0'),
    toolCallStartIds: since('0.84.3'),
    clearsQueue: since('0.84.4'),
    dispositions: since('0.99.0'),
    /** The session file begins with the first user message, not with the first answer; a shutdown saves what it aborted. */
    savesEarly: since('0.99.0'),
    /** `system` messages, `pending`, durations, `context_edit`. */
    modern: since('1.0.0'),
    settledAborted: since('1.1.0'),
  };
}
