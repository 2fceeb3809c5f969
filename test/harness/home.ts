import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Settings = Record<string, unknown>;

export interface HomeOptions {
  /** A folder to use and keep (`remove()` leaves it). Default: a new folder in the temp folder. */
  readonly folder?: string;
  /** Added to the quiet settings. Written only when the folder has no settings yet: a person's changes stay. */
  readonly settings?: Settings;
  /** Lets VS Code ask whether a folder is trusted. Default: everything is trusted and nothing asks. */
  readonly workspaceTrust?: boolean;
}

/** Everything one editor remembers: user data, installed extensions, logs. Outlives servers; pass it on to reopen. */
export interface EditorHome {
  readonly folder: string;
  readonly userData: string;
  readonly extensions: string;
  readonly workspaceTrust: boolean;
  /** Removes the folder, unless the caller named it. */
  remove(): void;
}

/** Settings for quiet, steady runs: nothing asks, blinks, moves, updates or reaches for the network. */
const QUIET: Settings = {
  'accessibility.signals.sounds.enabled': 'off',
  'chat.disableAIFeatures': true,
  'editor.cursorBlinking': 'solid',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'files.hotExit': 'off',
  'git.enabled': false,
  'npm.autoDetect': 'off',
  'telemetry.telemetryLevel': 'off',
  'terminal.integrated.gpuAcceleration': 'off', // so that its text stands in the page
  'typescript.disableAutomaticTypeAcquisition': true,
  'update.mode': 'none',
  'window.dialogStyle': 'custom',
  'window.restoreWindows': 'none',
  'workbench.editor.useModal': 'off', // since 1.139 some editors open in a box
  'workbench.enableExperiments': false,
  'workbench.reduceMotion': 'on',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
};

/** Makes (or finds again) the data folder of an editor. VS Code reads settings when a page loads. */
export function createEditorHome(options: HomeOptions = {}): EditorHome {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'pi-lanes-editor-'));
  const workspaceTrust = options.workspaceTrust ?? false;
  const userData = join(folder, 'data');
  const extensions = join(folder, 'extensions');
  mkdirSync(join(userData, 'User'), { recursive: true });
  mkdirSync(extensions, { recursive: true });
  const settings = { ...QUIET, 'security.workspace.trust.enabled': workspaceTrust, ...options.settings };
  writeWhenMissing(join(userData, 'User', 'settings.json'), `${JSON.stringify(settings, null, 2)}\n`);
  // Without a file of its own code-server writes one into the person's home folder.
  writeWhenMissing(join(folder, 'config.yaml'), 'auth: none\n');
  const remove = () => {
    if (!options.folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return { folder, userData, extensions, workspaceTrust, remove };
}

/** What the extension hosts of this home have logged, newest session last. */
export function extensionHostLog(home: EditorHome): string {
  const logs = join(home.userData, 'logs');
  if (!existsSync(logs)) return '';
  const files = readdirSync(logs, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /remoteexthost\.log$/.test(file),
  );
  return files.map((file) => readFileSync(join(logs, file), 'utf8')).join('\n');
}

function writeWhenMissing(file: string, text: string): void {
  if (!existsSync(file)) writeFileSync(file, text);
}
