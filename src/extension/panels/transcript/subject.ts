/** What a transcript panel is about, and which of them are ours to read. */
import { extname, isAbsolute, join, normalize, relative, sep } from 'node:path';
import { RUN_ID, type TranscriptPanelState, transcriptPanelState } from '../../../protocol/index.ts';

export type Subject = TranscriptPanelState['subject'];

/** The same subject always has the same key. */
export function subjectKey(subject: Subject): string {
  return subject.kind === 'run' ? `run ${subject.child} ${subject.directory}` : `session ${subject.file}`;
}

/** Whether a folder is that of a run in the store: nothing relative, no steps back. */
export function isRunFolder(projectsRoot: string, directory: string): boolean {
  const parts = relative(projectsRoot, directory).split(sep);
  const [project, runs, runId] = parts;
  if (parts.length !== 3 || !project || project === '..' || runs !== 'runs' || !runId || !RUN_ID.test(runId))
    return false;
  // Put together again it must be the same.
  return join(projectsRoot, ...parts) === directory;
}

export function isSessionPath(file: string): boolean {
  return isAbsolute(file) && normalize(file) === file && extname(file) === '.jsonl';
}

/** Only runs of the store and session files are shown, whoever asks. */
export function isAllowed(projectsRoot: string, subject: Subject): boolean {
  if (subject.kind === 'session') return isSessionPath(subject.file);
  return Number.isInteger(subject.child) && subject.child > 0 && isRunFolder(projectsRoot, subject.directory);
}

/** What a page kept of itself. `undefined`: it is none of ours, or of another version. */
export function restoredSubject(projectsRoot: string, state: unknown): Subject | undefined {
  const parsed = transcriptPanelState.safeParse(state);
  return parsed.success && isAllowed(projectsRoot, parsed.data.subject) ? parsed.data.subject : undefined;
}
