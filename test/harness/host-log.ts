import { format } from 'node:util';

/** Beginnings of the window's own log lines, which come through the same pipe as what the tests print. */
const OF_THE_WINDOW = [
  '%c',
  '[AccountPolicyGate]',
  '[AgentHost:',
  '[DefaultAccount]',
  '[Service Worker]',
  '[reconnection-grace-time]',
  '[lifecycle]',
  '[remote-connection]',
  'Canceled: Canceled',
  'Completed initializing',
  'Creating a socket',
  'Extension host ',
  'Found additional',
  'Ignoring fetching additional',
  'Loading development extension',
  'No search provider registered',
  'Resolved connection token',
  'Resolving connection token',
  'Started initializing',
  'Started local',
  'Updating additional builtin',
];

const FRAME_OF_THE_WORKBENCH = /workbench\.js:\d+:\d+\)?$/;

/**
 * The text of one console call that reached the window from the extension host; undefined for the window's own chatter.
 * Raising VS Code's log level instead would lose the tests' output as well.
 */
export function hostLogText(args: readonly unknown[]): string | undefined {
  const text = format(...args);
  if (OF_THE_WINDOW.some((beginning) => text.startsWith(beginning))) return undefined;
  const lines = text.split('\n').filter((line) => !FRAME_OF_THE_WORKBENCH.test(line));
  return lines.join('\n');
}
