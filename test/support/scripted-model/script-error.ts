/** The prompt asked for something the scripted model cannot do. Answered as HTTP 400 so that a typo shows in the test. */
export class ScriptError extends Error {
  override name = 'ScriptError';
}
