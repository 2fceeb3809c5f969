/** A text of an error of ours. */
export interface ErrorText {
  message: string;
  /** The next step. */
  hint?: string;
  /** The same for a command line, where the hint names what only the editor has. `RUN` stands for the run that is meant. */
  cli?: string;
}
