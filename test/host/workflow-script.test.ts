/** Workflow scripts inside the editor: places, codes, fixes, completion, outline, and which files are scripts. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { analyseScript } from '../../src/core/workflow/analyse-script.ts';
import { waitFor } from '../support/wait-for.ts';
import { activeExtension } from './pi-lanes.ts';

const SOURCE = 'Pi Lanes';

function folder(): vscode.Uri {
  const [first] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(first);
  return first.uri;
}

async function script(name: string, text: string): Promise<vscode.TextDocument> {
  const uri = vscode.Uri.joinPath(folder(), name);
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
  return vscode.workspace.openTextDocument(uri);
}

const own = (document: vscode.TextDocument) =>
  vscode.languages.getDiagnostics(document.uri).filter(({ source }) => source === SOURCE);
const codes = (document: vscode.TextDocument) =>
  own(document).map(({ code }) => (typeof code === 'object' ? code.value : code));

/** Waits until exactly these codes are shown. */
const shown = (document: vscode.TextDocument, ...wanted: string[]) =>
  waitFor(`${wanted.join(', ') || 'no problem'} in ${document.uri.path}`, () => {
    const found = codes(document);
    return found.length === wanted.length && wanted.every((code, at) => found[at] === code);
  });

async function edit(document: vscode.TextDocument, range: vscode.Range, text: string): Promise<void> {
  const change = new vscode.WorkspaceEdit();
  change.replace(document.uri, range, text);
  assert.ok(await vscode.workspace.applyEdit(change));
}

const whole = (document: vscode.TextDocument) =>
  new vscode.Range(new vscode.Position(0, 0), document.lineAt(document.lineCount - 1).range.end);

const MANY = [
  '// Müller 😀',
  "const s = '😀\u2028', \tr = await runs.all([{ key: 'a', agent: 'scout' }]);",
  '\temit({ deep: [1, () => 2] });',
  'const f = async (x) =>',
  '  r.a;',
  'return 1;',
  'emit(1);',
  '',
];

suite('a workflow script', () => {
  suiteSetup(activeExtension);

  for (const [name, end] of [
    ['LF', '\n'],
    ['CRLF', '\r\n'],
  ] as const) {
    test(`has its problems where the check puts them (${name})`, async () => {
      const text = MANY.join(end);
      const document = await script(`places-${name}.workflow.js`, text);
      const { findings } = analyseScript(text);
      assert.ok(findings.length >= 4);
      await shown(document, ...findings.map(({ code }) => code));
      own(document).forEach(({ range, message, severity }, at) => {
        const finding = findings[at];
        assert.ok(finding);
        assert.deepEqual(
          [range.start.line + 1, range.start.character + 1, range.end.line + 1, range.end.character + 1],
          [finding.line, finding.column, finding.endLine, finding.endColumn],
        );
        assert.equal(message, finding.message);
        assert.equal(severity === vscode.DiagnosticSeverity.Error, finding.severity === 'error');
        // The places lie in the text of the editor as it is.
        assert.ok(document.validateRange(range).isEqual(range));
      });
      assert.equal(document.getText(own(document)[0]?.range), '() => 2');
    });
  }

  test('has codes that lead to their explanation, and places that explain', async () => {
    const text = "return runs.all([\n  { key: 'a', agent: 'scout' },\n  { key: 'a', agent: 'worker' },\n]);\n";
    const document = await script('linked.workflow.js', text);
    await shown(document, 'duplicate_key');
    const [problem] = own(document);
    assert.ok(typeof problem?.code === 'object');
    const line = Number(/^L(\d+)$/.exec(problem.code.target.fragment)?.[1]);
    const page = await vscode.workspace.openTextDocument(problem.code.target.with({ fragment: '' }));
    assert.match(page.lineAt(line - 1).text, /^\| `duplicate_key`/);
    const [related] = problem.relatedInformation ?? [];
    assert.equal(document.getText(related?.location.range), "'a'");
    assert.equal(related?.location.range.start.line, 1);
  });

  test('is checked again while it is typed', async () => {
    const document = await script('typed.workflow.mjs', 'return 1;\n');
    await shown(document);
    await edit(document, whole(document), 'emit(undefined);\n');
    await shown(document, 'not_json');
    await edit(document, whole(document), 'emit(\n');
    await shown(document, 'syntax');
    await edit(document, whole(document), "await runs.run('a', { agent: 'skout' });\n");
    await shown(document, 'agent_not_found');
    await edit(document, whole(document), "await runs.run('a', { agent: 'scout' });\n");
    await shown(document);
  });

  test('is what a name, .pi/workflows or the setting makes one', async () => {
    const wrong = 'emit(undefined);\n';
    const scripts = [
      await script('named.workflow.js', wrong),
      await script('.pi/workflows/kept.js', wrong),
      await script('workflows/deep/one.js', wrong),
    ];
    const other = await script('lanes/other.js', wrong);
    for (const document of scripts) await shown(document, 'not_json');
    assert.deepEqual(own(other), []);
    const configuration = vscode.workspace.getConfiguration('piLanes', folder());
    await configuration.update('workflows.folders', ['lanes'], vscode.ConfigurationTarget.Workspace);
    await shown(other, 'not_json');
    const [, , dropped] = scripts;
    assert.ok(dropped);
    await shown(dropped);
    await configuration.update('workflows.folders', undefined, vscode.ConfigurationTarget.Workspace);
    await shown(dropped, 'not_json');
    await shown(other);
  });

  test('is checked in a fence of Markdown that says that it is one', async () => {
    const text = [
      '# Notes',
      '```js',
      'emit(undefined)',
      '```',
      '```js workflow',
      'const a = 1;',
      'emit(undefined);',
      '```',
      '',
    ];
    const document = await script('notes.md', text.join('\r\n'));
    await shown(document, 'not_json');
    const range = own(document)[0]?.range;
    assert.equal(range?.start.line, 6);
    assert.equal(document.getText(range), 'undefined');
    await edit(document, document.lineAt(6).range, 'return a;');
    await shown(document);
  });

  const actions = async (document: vscode.TextDocument, range: vscode.Range, kind: vscode.CodeActionKind) => {
    const found = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      document.uri,
      range,
      kind.value,
    );
    return found.filter(({ kind: given }) => given && kind.contains(given));
  };

  test('B78 is repaired by a quick fix: results read by key', async () => {
    const text = "const r = await runs.all([{ key: 'a', agent: 'scout' }]);\nreturn r.a.output;\n";
    const document = await script('keyed.workflow.js', text);
    await shown(document, 'batch_keyed_read');
    const range = own(document)[0]?.range;
    assert.ok(range);
    const fixes = await actions(document, range, vscode.CodeActionKind.QuickFix);
    const fix = fixes.find(({ title }) => title === 'Take the results apart by their order');
    assert.ok(fix?.edit && fix.isPreferred);
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    assert.equal(document.getText(), "const [a] = await runs.all([{ key: 'a', agent: 'scout' }]);\nreturn a.output;\n");
    await shown(document);
  });

  test('is repaired as a whole, one repair bringing the next to light', async () => {
    const text = [
      "const r = await runs.all([{ key: 'a', agent: 'scout' }]);",
      "const f = async (k) => (await runs.run(k, { agent: 'scout' })).output;",
      "runs.host('h', { kind: 'command', command: 'npm test' });",
      "return [r.a.output, await f('b')];",
      '',
    ].join('\n');
    const document = await script('all.workflow.js', text);
    await shown(document, 'nested_async', 'launch_unobserved', 'host_timeout_missing', 'batch_keyed_read');
    const [all, ...others] = await actions(
      document,
      whole(document),
      vscode.CodeActionKind.SourceFixAll.append('piLanes'),
    );
    assert.deepEqual(others, []);
    assert.ok(all?.edit);
    assert.ok(await vscode.workspace.applyEdit(all.edit));
    await shown(document);
    assert.deepEqual(analyseScript(document.getText()).findings, []);
    assert.match(document.getText(), /^const \[a\] = await runs\.all/);
    assert.match(
      document.getText(),
      /await runs\.host\('h', \{ kind: 'command', command: 'npm test', timeoutMs: 600000 \}\)/,
    );
  });

  const completions = async (document: vscode.TextDocument, position: vscode.Position) => {
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      document.uri,
      position,
    );
    return list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
  };

  test('offers agents and the keys launched before', async () => {
    const text =
      "await runs.run('first', { agent: 'scout' });\nawait runs.steer('', 'x');\nawait runs.run('later', { agent: '' });\n";
    const document = await script('complete.workflow.js', text);
    await waitFor('the check', () => own(document).length > 0);
    const agents = await completions(document, new vscode.Position(2, 34));
    for (const name of ['worker', 'scout', 'reviewer']) assert.ok(agents.includes(name), name);
    const keys = await completions(document, new vscode.Position(1, 18));
    assert.ok(keys.includes('first'));
    assert.ok(!keys.includes('later'));
    // Not elsewhere.
    assert.ok(!(await completions(await script('not-one.js', text), new vscode.Position(2, 34))).includes('reviewer'));
  });

  test('renames a child wherever it is named, and finds those places', async () => {
    const text = [
      "const map = await runs.run('map', { agent: 'scout', lane: { version: 1, key: 'map' } });",
      "await runs.run('fix', { agent: 'worker' });",
      "await runs.steer('map', 'map the rest, too');",
      'return map.output;',
      '',
    ].join('\n');
    const document = await script('rename.workflow.js', text);
    const at = new vscode.Position(2, 19);
    const found = await vscode.commands.executeCommand<vscode.Location[]>(
      'vscode.executeReferenceProvider',
      document.uri,
      at,
    );
    assert.deepEqual(found.map(({ range }) => range.start.line).sort(), [0, 0, 2]);
    const rename = async (name: string) =>
      vscode.commands.executeCommand<vscode.WorkspaceEdit>(
        'vscode.executeDocumentRenameProvider',
        document.uri,
        at,
        name,
      );
    await assert.rejects(rename('not a key'));
    await assert.rejects(rename('fix'));
    assert.ok(await vscode.workspace.applyEdit(await rename('chart')));
    assert.equal(
      document.getText(),
      text
        .replace("run('map'", "run('chart'")
        .replace("key: 'map'", "key: 'chart'")
        .replace("steer('map'", "steer('chart'"),
    );
  });

  test('has an outline of its children', async () => {
    const text =
      "await runs.run('map', { agent: 'scout', label: 'Chart' });\nreturn runs.lanes([{ key: 'api', stages: [{ key: 'do', agent: 'worker' }] }]);\n";
    const document = await script('outline.workflow.js', text);
    const symbols = await waitFor('the outline', async () => {
      const found = await vscode.commands.executeCommand<vscode.DocumentSymbol[]>(
        'vscode.executeDocumentSymbolProvider',
        document.uri,
      );
      return found?.some(({ name }) => name === 'map') && found;
    });
    const map = symbols.find(({ name }) => name === 'map');
    assert.equal(map?.detail, 'scout · Chart');
    assert.equal(document.getText(map?.selectionRange), "'map'");
    const api = symbols.find(({ name }) => name === 'api');
    assert.deepEqual(
      api?.children.map(({ name }) => name),
      ['api.do'],
    );
  });

  test('has lenses that run it, say where its agents work, and validate it', async () => {
    const document = await script('lens.workflow.js', 'emit(undefined);\n');
    await shown(document, 'not_json');
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      document.uri,
    );
    assert.deepEqual(
      lenses.map(({ command }) => [command?.title, command?.command]),
      [
        ['$(play) Run workflow', 'piLanes.runWorkflow'],
        ['$(folder) Agents work in the folder', 'piLanes.chooseWorkflowWorkplace'],
        ['Validate (errors: 1, warnings: 0)', 'piLanes.validateWorkflow'],
      ],
    );
  });

  test('of two thousand lines is checked as it is after the last key', async () => {
    const lines = Array.from(
      { length: 1000 },
      (_, at) =>
        `const v${at} = await runs.run('k${at}', { agent: 'scout', task: 'Look at ${at}.' });\nemit(v${at}.output);`,
    );
    const document = await script('long.workflow.js', lines.join('\n'));
    await shown(document, 'spawn_budget_default');
    const { version } = document;
    for (let at = 0; at < 20; at += 1) await edit(document, new vscode.Range(0, 0, 0, 0), ' ');
    assert.equal(document.version, version + 20);
    // The last text counts, whatever was being read meanwhile.
    await edit(document, new vscode.Range(0, 0, 0, 0), 'emit(undefined);');
    await shown(document, 'spawn_budget_default', 'not_json');
  });
});
