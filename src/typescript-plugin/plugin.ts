/**
 * Teaches the editor's own JavaScript service what a workflow script is: the body of an async function with the names that
 * `workflow.d.ts` declares. Loaded by tsserver; says nothing of any other file.
 */
import { join } from 'node:path';
import { isWorkflowPath } from '../core/workflow-files/index.ts';

/** The part of tsserver's interface for plugins that is used here. */
interface Snapshot {
  getText(start: number, end: number): string;
  getLength(): number;
  getChangeRange(old: Snapshot): undefined;
}
interface Diagnostic {
  code: number;
  start?: number | undefined;
  length?: number | undefined;
}
interface LanguageService {
  getSyntacticDiagnostics(file: string): Diagnostic[];
  getSemanticDiagnostics(file: string): Diagnostic[];
  getSuggestionDiagnostics(file: string): Diagnostic[];
}
interface PluginInfo {
  languageService: LanguageService;
  languageServiceHost: {
    getScriptFileNames(): string[];
    getScriptSnapshot(file: string): Snapshot | undefined;
    getScriptVersion(file: string): string;
  };
  project: { markAsDirty?(): void; refreshDiagnostics?(): void };
  /** What the editor said before this project was opened. */
  config?: Configuration;
}
interface Configuration {
  folders?: unknown;
}

/**
 * What is legal in a script, though the service says otherwise: `return` (1108) and `await` (1375, 1378, 1431, 1432, 1309) at the
 * top, sloppy code in what it takes for a module (1215, 1101, 1102). And advice that would break a script: make it a module
 * (80001, 80005), make a promise chain an async function (80006).
 */
const LEGAL_HERE = new Set([1108, 1375, 1378, 1431, 1432, 1309, 1215, 1101, 1102, 80001, 80005, 80006]);

/** Something declared that nothing uses. The service does not look into a `return` at the top, so it may be used there. */
const UNUSED = new Set([6133, 6192, 6196, 6198, 6199]);

/** Whether the name that a finding stands at is written in further places. */
function isUsed(text: string, { start = 0, length = 0 }: Diagnostic): boolean {
  const names = text.slice(start, start + length).match(/[\w$]+/g) ?? [];
  return names.some((name) => text.split(new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`)).length > 2);
}

/** Makes each script a module, so that scripts do not see each other's names; behind the end, so that no place moves. */
const MODULE_MARK = '\nexport {};';

const DECLARATIONS = join(__dirname, 'workflow.d.ts').replaceAll('\\', '/');

let folders: string[] = [];

function isWorkflow(file: string): boolean {
  return isWorkflowPath(file, folders);
}

function create({ languageService, languageServiceHost, project, config }: PluginInfo): LanguageService {
  if (config) takeFolders(config);
  const fileNames = languageServiceHost.getScriptFileNames.bind(languageServiceHost);
  languageServiceHost.getScriptFileNames = () => {
    const names = fileNames();
    return names.some(isWorkflow) && !names.includes(DECLARATIONS) ? [...names, DECLARATIONS] : names;
  };
  const snapshot = languageServiceHost.getScriptSnapshot.bind(languageServiceHost);
  languageServiceHost.getScriptSnapshot = (file) => {
    const own = snapshot(file);
    return own && isWorkflow(file) ? marked(own) : own;
  };
  // A file that becomes a script, or stops being one, is read again though its text is the same.
  const version = languageServiceHost.getScriptVersion.bind(languageServiceHost);
  languageServiceHost.getScriptVersion = (file) => (isWorkflow(file) ? `${version(file)}-script` : version(file));
  projects.add(project);
  const filtered = (ask: (file: string) => Diagnostic[]) => (file: string) => {
    const found = ask(file);
    if (!isWorkflow(file)) return found;
    const own = snapshot(file);
    const text = own?.getText(0, own.getLength()) ?? '';
    return found.filter((one) => !LEGAL_HERE.has(one.code) && !(UNUSED.has(one.code) && isUsed(text, one)));
  };
  return {
    ...languageService,
    getSyntacticDiagnostics: filtered(languageService.getSyntacticDiagnostics.bind(languageService)),
    getSemanticDiagnostics: filtered(languageService.getSemanticDiagnostics.bind(languageService)),
    getSuggestionDiagnostics: filtered(languageService.getSuggestionDiagnostics.bind(languageService)),
  };
}

const projects = new Set<PluginInfo['project']>();

function marked(own: Snapshot): Snapshot {
  const text = own.getText(0, own.getLength()) + MODULE_MARK;
  return {
    getText: (start, end) => text.slice(start, end),
    getLength: () => text.length,
    getChangeRange: () => undefined,
  };
}

function takeFolders({ folders: given }: Configuration): void {
  if (Array.isArray(given)) folders = given.filter((folder) => typeof folder === 'string');
}

/** The editor tells which folders hold workflows. */
function onConfigurationChanged(configuration: Configuration): void {
  takeFolders(configuration);
  for (const project of projects) {
    project.markAsDirty?.();
    project.refreshDiagnostics?.();
  }
}

/** What tsserver calls when it loads the plugin. */
export function init(): { create: typeof create; onConfigurationChanged: typeof onConfigurationChanged } {
  return { create, onConfigurationChanged };
}
