/** Inside a definition of an agent: completion, hover and definition, with what a real Pi says of its models and tools. */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { waitFor } from '../support/wait-for.ts';
import { activeExtension } from './pi-lanes.ts';

const MARK = '‸';
const agentDir = process.env['PI_CODING_AGENT_DIR'] ?? '';
const models = join(agentDir, 'models.json');
const extensions = join(agentDir, 'extensions');

/** A model nobody asks anything, and an extension with a tool. */
const MODELS = {
  providers: {
    fake: {
      baseUrl: 'http://127.0.0.1:9/v1',
      api: 'openai-completions',
      apiKey: 'not-a-secret',
      models: [{ id: 'thoughtful', name: 'Thoughtful', reasoning: true, contextWindow: 128_000, input: ['text'] }],
    },
  },
};
const EXTENSION = `export default (pi) => pi.registerTool({
  name: 'weather', label: 'x', description: 'x', parameters: { type: 'object', properties: {} },
  execute: async () => ({ content: [], details: {} }),
});`;

function folder(): vscode.Uri {
  const [first] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(first);
  return first.uri;
}

async function write(name: string, text: string): Promise<vscode.Uri> {
  const uri = vscode.Uri.joinPath(folder(), name);
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
  return uri;
}

/** A definition that is open, and where its mark is. */
async function marked(name: string, ...lines: string[]) {
  const text = ['---', `name: ${name}`, 'description: b', ...lines, '---', 'Body.', ''].join('\n');
  const uri = await write(`.pi/agents/${name}.md`, text.replace(MARK, ''));
  const document = await vscode.workspace.openTextDocument(uri);
  return { uri, document, position: document.positionAt(text.indexOf(MARK)) };
}

async function completions(uri: vscode.Uri, position: vscode.Position): Promise<vscode.CompletionItem[]> {
  const list = await vscode.commands.executeCommand<vscode.CompletionList>(
    'vscode.executeCompletionItemProvider',
    uri,
    position,
  );
  return list.items;
}

const labelOf = ({ label }: vscode.CompletionItem) => (typeof label === 'string' ? label : label.label);

/** Until Pi has answered, others may be offered than it has. */
const offered = (uri: vscode.Uri, position: vscode.Position, label: string) =>
  waitFor(
    `${label} to be offered`,
    async () => (await completions(uri, position)).find((item) => labelOf(item) === label),
    { timeoutMs: 60_000 },
  );

async function hover(uri: vscode.Uri, position: vscode.Position): Promise<string> {
  const found = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', uri, position);
  return found
    .flatMap(({ contents }) => contents)
    .map((content) => (typeof content === 'string' ? content : content.value))
    .join('\n');
}

const problems = (uri: vscode.Uri) =>
  vscode.languages.getDiagnostics(uri).map(({ code, message, range }) => ({
    code: typeof code === 'object' ? code.value : code,
    message,
    at: `${range.start.line + 1}:${range.start.character + 1}-${range.end.character + 1}`,
  }));

suite('inside a definition of an agent', () => {
  suiteSetup(async function () {
    this.timeout(60_000);
    const { extensionPath } = await activeExtension();
    await mkdir(extensions, { recursive: true });
    await writeFile(models, JSON.stringify(MODELS));
    await writeFile(join(extensions, 'weather.ts'), EXTENSION);
    await write('.pi/skills/knots/SKILL.md', '---\nname: knots\ndescription: d\n---\n');
    const pi = join(extensionPath, 'node_modules', '@earendil-works', 'pi-coding-agent');
    await vscode.workspace.getConfiguration('piLanes').update('pi.path', pi, vscode.ConfigurationTarget.Workspace);
  });
  suiteTeardown(async () => {
    await vscode.workspace
      .getConfiguration('piLanes')
      .update('pi.path', undefined, vscode.ConfigurationTarget.Workspace);
    await rm(models, { force: true });
    await rm(extensions, { recursive: true, force: true });
    await vscode.workspace.fs.delete(vscode.Uri.joinPath(folder(), '.pi'), { recursive: true });
  });

  test('offers fields that are not there yet, explained, and goes on with their values', async () => {
    const { uri, document, position } = await marked('fields', 'tools: read', 'th‸');
    const item = await offered(uri, position, 'thinking');
    assert.equal(item.insertText, 'thinking: ');
    assert.ok(item.range instanceof vscode.Range);
    assert.equal(document.getText(item.range), 'th');
    assert.ok(item.documentation instanceof vscode.MarkdownString);
    assert.match(item.documentation.value, /^How much the model thinks/);
    const labels = (await completions(uri, position)).map(labelOf);
    assert.ok(labels.includes('model'));
    assert.ok(!labels.includes('tools'));
  });

  test('offers models and tools as Pi says them', async function () {
    this.timeout(90_000);
    const model = await marked('model', 'model: ‸');
    const item = await offered(model.uri, model.position, 'fake/thoughtful');
    assert.ok(typeof item.label === 'object');
    assert.match(item.label.description ?? '', /thinks; 128\.0k tokens of context/);
    const tools = await marked('tools', 'tools:', '  - read', '  - ‸');
    await offered(tools.uri, tools.position, 'weather');
    const labels = (await completions(tools.uri, tools.position)).map(labelOf);
    assert.ok(labels.includes('bash'));
    assert.ok(!labels.includes('read'));
  });

  test('offers nothing in the prompt, in block text, and in other Markdown', async () => {
    const prompt = await marked('prompt');
    assert.deepEqual(await ours(prompt.uri, prompt.document.positionAt(prompt.document.getText().length - 1)), []);
    const block = await marked('block', 'output: |', '  mod‸');
    assert.deepEqual(await ours(block.uri, block.position), []);
    const other = await write('notes.md', '---\nname: a\nth\n---\n');
    await vscode.workspace.openTextDocument(other);
    assert.deepEqual(await ours(other, new vscode.Position(2, 2)), []);
  });

  test('says what a field is, what settings make of it, and what a model can do', async function () {
    this.timeout(90_000);
    const settings = { subagents: { agentOverrides: { hovered: { thinking: 'low' } } } };
    await write('.pi/settings.json', JSON.stringify(settings, undefined, 2));
    const { uri, position } = await marked('hovered', 'thinking: high', 'model: fake/thoughtful:hi‸gh');
    await waitFor('the settings to be told', async () =>
      (await hover(uri, new vscode.Position(3, 2))).includes('Settings make thinking low'),
    );
    const field = await hover(uri, new vscode.Position(3, 2));
    assert.match(field, /How much the model thinks/);
    assert.match(field, /subagents\.agentOverrides\.hovered\.thinking, .*settings\.json:5/);
    await waitFor('the model to be known', async () => (await hover(uri, position)).includes('fake/thoughtful'), {
      timeoutMs: 60_000,
    });
    assert.match(await hover(uri, position), /thinks; 128\.0k tokens of context; level high/);
  });

  test('leads to skills, extensions and settings', async () => {
    await write('.pi/agents/tool.ts', EXTENSION);
    const targets = async (uri: vscode.Uri, position: vscode.Position) =>
      (
        await vscode.commands.executeCommand<vscode.LocationLink[]>('vscode.executeDefinitionProvider', uri, position)
      ).map(({ targetUri }) => targetUri.path.split('/').slice(-3).join('/'));
    const skill = await marked('skilled', 'skills: kno‸ts');
    assert.deepEqual(await targets(skill.uri, skill.position), ['skills/knots/SKILL.md']);
    const extension = await marked('extended', 'extensions: ./to‸ol.ts');
    assert.deepEqual(await targets(extension.uri, extension.position), ['.pi/agents/tool.ts']);
    const gone = await marked('gone', 'extensions: ./nowhe‸re.ts');
    assert.deepEqual(await targets(gone.uri, gone.position), []);
  });

  test('warns of names nobody has, where they stand, with the nearest', async function () {
    this.timeout(90_000);
    const { uri } = await marked('unknown', 'model: fake/thoughtfull', 'tools: read, wether‸', 'skills: knotts');
    await waitFor('the names to be told', () => problems(uri).length === 3, {
      timeoutMs: 60_000,
      seen: () => problems(uri),
    });
    assert.deepEqual(problems(uri), [
      {
        code: 'reference_unknown',
        message: 'Pi can use no model fake/thoughtfull now. Did you mean fake/thoughtful?',
        at: '4:8-24',
      },
      {
        code: 'reference_unknown',
        message: 'Neither Pi nor the extensions that it finds have a tool wether. Did you mean weather?',
        at: '5:14-20',
      },
      { code: 'reference_unknown', message: 'There is no skill knotts. Did you mean knots?', at: '6:9-15' },
    ]);
  });
});

/** Of what we offer elsewhere: the editor offers words of the document, and its other extensions things of their own. */
async function ours(uri: vscode.Uri, position: vscode.Position): Promise<string[]> {
  const items = await completions(uri, position);
  return items
    .filter(({ kind }) => kind !== vscode.CompletionItemKind.Text)
    .map(labelOf)
    .filter((label) => ['model', 'thinking', 'tools', 'read', 'bash'].includes(label));
}
