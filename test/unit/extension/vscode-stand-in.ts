/** As much of the editor's API as the Runs view and the notices need in a unit test. */

type Listener<T> = (value: T) => void;

export class EventEmitter<T> {
  readonly #listeners = new Set<Listener<T>>();
  readonly event = (listener: Listener<T>) => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };
  fire(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

export class TreeItem {
  id?: string;
  description?: string;
  contextValue?: string;
  accessibilityInformation?: { label: string };
  command?: { command: string; arguments?: unknown[] };
  tooltip?: unknown;
  readonly label: string;
  readonly collapsibleState: number;
  constructor(label: string, collapsibleState = 0) {
    this.label = label;
    this.collapsibleState = collapsibleState;
  }
}

export class ThemeIcon {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}
export class ThemeColor extends ThemeIcon {}

export class MarkdownString {
  value = '';
  appendMarkdown(text: string): void {
    this.value += text;
  }
  appendText(text: string): void {
    this.value += text;
  }
}

export class Range {
  readonly places: number[];
  constructor(...places: number[]) {
    this.places = places;
  }
}
export class CodeLens {
  readonly range: Range;
  readonly command: unknown;
  constructor(range: Range, command: unknown) {
    this.range = range;
    this.command = command;
  }
}

export const DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2, Hint: 3 };
export const Uri = {
  file: (path: string) => ({ scheme: 'file', fsPath: path, path, toString: () => `file://${path}` }),
};

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export const env = { language: 'en' };
export const l10n = {
  t: (text: string, ...values: unknown[]) => {
    const [named] = values;
    const places = typeof named === 'object' && named !== null ? named : values;
    return text.replace(/\{(\w+)\}/g, (_, name) => String(new Map(Object.entries(places)).get(name)));
  },
};

export interface View {
  visible: boolean;
  selection: unknown[];
  badge?: { value: number; tooltip: string } | undefined;
  message?: string | undefined;
  description?: string | undefined;
}

/** The view that was created last, and what it tells. */
export const created = {
  view: { visible: false, selection: [] } as View,
  collapsed: new EventEmitter<{ element: unknown }>(),
  visibility: new EventEmitter<{ visible: boolean }>(),
};
/** Whether the window has the focus. */
export const windowState = new EventEmitter<{ focused: boolean }>();
/** Context keys that are set. */
export const contexts = new Map<string, unknown>();

/** Notifications that were shown, in order. */
export const messages: string[] = [];
const say = async (text: string): Promise<undefined> => void messages.push(text);

export const Disposable = {
  from: (...all: { dispose(): unknown }[]) => ({ dispose: () => all.forEach((one) => void one.dispose()) }),
};

interface Choice {
  label: string;
  description?: string;
}

/** The choice a person was given last, as labels and descriptions, and the label they take. */
export const picks: { shown: (string | undefined)[][]; answer: string | undefined } = { shown: [], answer: undefined };

export const window = {
  showQuickPick: async (items: readonly Choice[]) => {
    picks.shown = items.map(({ label, description }) => [label, description]);
    return items.find(({ label }) => label === picks.answer);
  },
  onDidChangeWindowState: windowState.event,
  setStatusBarMessage: () => ({ dispose: () => undefined }),
  showInformationMessage: say,
  showWarningMessage: say,
  showErrorMessage: say,
  createTreeView: () => {
    const { event: onDidCollapseElement } = created.collapsed;
    const { event: onDidChangeVisibility } = created.visibility;
    const more = { dispose: () => undefined, onDidCollapseElement, onDidChangeVisibility };
    created.view = { visible: false, selection: [], ...more };
    return created.view;
  },
};
export const commands = {
  executeCommand: async (_: string, key: string, value: unknown) => {
    contexts.set(key, value);
  },
};

/** The workspace of this window, and what a person has set, by key. */
export const workspace = {
  isTrusted: true,
  workspaceFolders: [] as { name: string; uri: { scheme: string; fsPath: string } }[],
  settings: new Map<string, unknown>(),
  asRelativePath: ({ path }: { path: string }) => path,
  textDocuments: [] as { uri: unknown }[],
  onDidGrantWorkspaceTrust: () => ({ dispose: () => undefined }),
  onDidChangeWorkspaceFolders: () => ({ dispose: () => undefined }),
  onDidChangeConfiguration: new EventEmitter<unknown>().event,
  getConfiguration: (section: string) => ({
    get: (key: string) => workspace.settings.get(`${section}.${key}`),
    inspect: (key: string) => ({ defaultValue: 30, globalValue: workspace.settings.get(`${section}.${key}`) }),
  }),
};

/** Remembers nothing beyond the test. */
export class Memento {
  readonly #values = new Map<string, unknown>();
  keys = () => [...this.#values.keys()];
  get<T>(key: string): T | undefined {
    return this.#values.get(key) as T | undefined;
  }
  async update(key: string, value: unknown): Promise<void> {
    this.#values.set(key, value);
  }
}
