/**
 * Scripts are checked while they are typed: in a worker, a moment after the last key, and never an older text than the one
 * that is shown.
 */
import * as vscode from 'vscode';
import { agentFindings, type ScriptValidator } from '../../core/workflow/index.ts';
import type { AgentMention, Finding, ScriptAnalysis, TextRange } from '../../protocol/index.ts';
import { toDiagnostic } from './finding-diagnostics.ts';
import type { FindingDocs } from './finding-docs.ts';
import { scriptFences } from './script-fences.ts';
import { isWorkflow, mayHaveFences, tellJavaScriptService, watchWorkflowFolders } from './workflow-files.ts';

const DEBOUNCE_MS = 150;
/** The version of no document. */
const OUTDATED = -1;

/** An agent as far as scripts are concerned. */
export interface KnownAgent {
  name: string;
  description: string;
  aliases: readonly string[];
}

interface Checked {
  version: number;
  analysis: ScriptAnalysis;
  /** With what only this machine knows. */
  findings: Finding[];
}

export interface WorkflowChecksOptions {
  validator: ScriptValidator;
  /** The agents that a script at this place can launch. */
  agents: (uri: vscode.Uri) => readonly KnownAgent[] | Promise<readonly KnownAgent[]>;
  docs: FindingDocs;
  log: vscode.LogOutputChannel;
}

export class WorkflowChecks implements vscode.Disposable {
  readonly #options: WorkflowChecksOptions;
  readonly #diagnostics = vscode.languages.createDiagnosticCollection('pi-lanes-workflows');
  readonly #checked = new Map<string, Checked>();
  readonly #lastReadable = new Map<string, ScriptAnalysis>();
  readonly #pending = new Map<string, { timer: NodeJS.Timeout; abort: AbortController }>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #subscriptions: vscode.Disposable;
  /** Whether the JavaScript service was told what scripts are. Before one is opened it need not know. */
  #serviceKnows = false;
  /** A script has been checked, or is no script any more. */
  readonly onDidCheck = this.#changed.event;

  constructor(options: WorkflowChecksOptions) {
    this.#options = options;
    this.#subscriptions = vscode.Disposable.from(
      this.#diagnostics,
      this.#changed,
      vscode.workspace.onDidOpenTextDocument((document) => this.#checkSoon(document, 0)),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) this.#checkSoon(document, DEBOUNCE_MS);
      }),
      vscode.workspace.onDidCloseTextDocument((document) => this.#forget(document)),
      watchWorkflowFolders(() => {
        this.#serviceKnows = false;
        this.#checkAll();
      }),
    );
    this.#checkAll();
  }

  #checkAll(): void {
    for (const document of vscode.workspace.textDocuments) {
      if (isWorkflow(document) || mayHaveFences(document)) this.#checkSoon(document, 0);
      else this.#forget(document);
    }
  }

  /** Other agents than before can be launched: what was said of scripts may be wrong. */
  agentsChanged(): void {
    for (const checked of this.#checked.values()) checked.version = OUTDATED;
    this.#checkAll();
  }

  #checkSoon(document: vscode.TextDocument, delayMs: number): void {
    const isScript = isWorkflow(document);
    if (!isScript && !mayHaveFences(document)) return;
    if (isScript && !this.#serviceKnows) {
      this.#serviceKnows = true;
      void tellJavaScriptService();
    }
    const key = document.uri.toString();
    this.#cancel(key);
    const abort = new AbortController();
    const timer = setTimeout(() => {
      this.check(document, abort.signal).catch((error: unknown) => {
        if (!abort.signal.aborted) this.#options.log.error(`Checking ${key} failed: ${error}`);
      });
    }, delayMs);
    this.#pending.set(key, { timer, abort });
  }

  #cancel(key: string): void {
    const pending = this.#pending.get(key);
    if (!pending) return;
    clearTimeout(pending.timer);
    pending.abort.abort();
    this.#pending.delete(key);
  }

  #forget({ uri }: vscode.TextDocument): void {
    const key = uri.toString();
    this.#cancel(key);
    this.#lastReadable.delete(key);
    if (this.#checked.delete(key)) {
      this.#diagnostics.delete(uri);
      this.#changed.fire(uri);
    }
  }

  /** Checks a script as it is now and shows what was found, unless it has been changed meanwhile. */
  async check(document: vscode.TextDocument, signal?: AbortSignal): Promise<readonly Finding[]> {
    const { validator, agents, docs } = this.#options;
    const { version } = document;
    const key = document.uri.toString();
    const known = this.#checked.get(key);
    if (known?.version === version) return known.findings;
    const [analysis, available] = await Promise.all([
      isWorkflow(document) ? validator.analyse(document.getText(), {}, signal) : this.#analyseFences(document, signal),
      agents(document.uri),
      docs.load(),
    ]);
    const findings = [...analysis.findings, ...agentFindings(analysis.agents, available)];
    if (document.version !== version || document.isClosed || signal?.aborted) return findings;
    this.#checked.set(key, { version, analysis, findings });
    if (!analysis.findings.some(({ code }) => code === 'syntax')) this.#lastReadable.set(key, analysis);
    this.#diagnostics.set(
      document.uri,
      findings.map((finding) => toDiagnostic(finding, document, (code) => docs.of(code))),
    );
    this.#changed.fire(document.uri);
    return findings;
  }

  /** Every script of a Markdown document. They are shown to be read, so fixes and keys are left out. */
  async #analyseFences(document: vscode.TextDocument, signal: AbortSignal | undefined): Promise<ScriptAnalysis> {
    const findings: Finding[] = [];
    const agents: AgentMention[] = [];
    for (const { text, lines } of scriptFences(document.getText())) {
      const down = <Place extends TextRange>(place: Place): Place => ({
        ...place,
        line: place.line + lines,
        endLine: place.endLine + lines,
      });
      const analysis = await this.#options.validator.analyse(text, {}, signal);
      for (const { fix: _, related, ...finding } of analysis.findings) {
        findings.push({ ...down(finding), ...(related && { related: related.map(down) }) });
      }
      agents.push(...analysis.agents.map(({ name, range }) => ({ name, range: down(range) })));
    }
    return { findings, keys: [], agents };
  }

  /** What was found in exactly this version; `undefined` while it has not been checked. */
  findings(document: vscode.TextDocument): readonly Finding[] | undefined {
    const checked = this.#checked.get(document.uri.toString());
    return checked?.version === document.version ? checked.findings : undefined;
  }

  /** Keys and agents as of the last version that could be read: while one types, most cannot. */
  outline(document: vscode.TextDocument): ScriptAnalysis | undefined {
    return this.#lastReadable.get(document.uri.toString());
  }

  /** Checks a text that stands nowhere: what a script would be after a fix. */
  async findingsOf(text: string): Promise<readonly Finding[]> {
    return (await this.#options.validator.analyse(text)).findings;
  }

  /** Checks a script that lies in a file, as an open one is checked, and shows nothing. */
  async findingsIn(uri: vscode.Uri, text: string): Promise<readonly Finding[]> {
    const { validator, agents } = this.#options;
    const [analysis, available] = await Promise.all([validator.analyse(text), agents(uri)]);
    return [...analysis.findings, ...agentFindings(analysis.agents, available)];
  }

  agents(uri: vscode.Uri): readonly KnownAgent[] | Promise<readonly KnownAgent[]> {
    return this.#options.agents(uri);
  }

  dispose(): void {
    for (const key of [...this.#pending.keys()]) this.#cancel(key);
    this.#subscriptions.dispose();
    void this.#options.validator[Symbol.asyncDispose]();
  }
}
