/** What tests put into the page. */
interface Window {
  /** The page says something. */
  hostReceive(message: unknown): void;
  /** The page keeps something. */
  hostState(state: unknown): void;
  /** The content security policy stopped something. */
  hostViolation(what: string): void;
  acquireVsCodeApi(): unknown;
  /** A screen reader would say this. */
  told(what: string): void;
}
