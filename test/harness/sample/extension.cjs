// One of each thing that the workbench driver can reach: commands, notifications, questions, a tree, a status bar item,
// an output channel and a webview panel.
const vscode = require('vscode');

class FruitTree {
  constructor() {
    this.names = ['Apple', 'Banana'];
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
  }

  getChildren(parent) {
    if (!parent) return this.names;
    return this.names.includes(parent) ? [`${parent} seed`] : [];
  }

  getTreeItem(name) {
    const state = this.names.includes(name)
      ? vscode.TreeItemCollapsibleState.Collapsed
      : vscode.TreeItemCollapsibleState.None;
    return new vscode.TreeItem(name, state);
  }

  remove(name) {
    this.names = this.names.filter((other) => other !== name);
    this.changed.fire();
  }
}

async function greet() {
  const answer = await vscode.window.showInformationMessage('Hello from the sample', 'Wave', 'Ignore');
  if (answer) vscode.window.showInformationMessage(`You chose ${answer}`);
}

async function ask() {
  const colour = await vscode.window.showQuickPick(['Red', 'Green', 'Dark Green'], { title: 'Pick a colour' });
  if (!colour) return;
  const validateInput = (value) => (value.length < 3 ? 'Too short' : undefined);
  const name = await vscode.window.showInputBox({ title: 'Name it', validateInput });
  vscode.window.showInformationMessage(`Asked: ${colour} ${name}`);
}

async function choose() {
  const chosen = await vscode.window.showQuickPick(['One', 'Two', 'Three'], { title: 'Several', canPickMany: true });
  vscode.window.showInformationMessage(`Chosen: ${chosen?.join('+')}`);
}

async function confirm() {
  const options = { modal: true, detail: 'It can not be undone.' };
  const answer = await vscode.window.showWarningMessage('Really delete it?', options, 'Delete');
  vscode.window.showInformationMessage(`Answer: ${answer}`);
}

function openPanel() {
  const panel = vscode.window.createWebviewPanel('sample', 'Sample Panel', vscode.ViewColumn.One, {
    enableScripts: true,
  });
  panel.webview.html = `<!DOCTYPE html><title>Sample Panel</title><body>
    <button id="press">Press</button> <output id="count">0</output> <code style="font-family: var(--vscode-editor-font-family)">code</code>
    <script>
      const code = acquireVsCodeApi();
      document.getElementById('press').onclick = () => code.postMessage('pressed');
      addEventListener('message', (event) => { document.getElementById('count').textContent = event.data; });
    </script></body>`;
  let count = 0;
  panel.webview.onDidReceiveMessage(() => {
    count += 1;
    panel.webview.postMessage(String(count));
  });
}

exports.activate = (context) => {
  const output = vscode.window.createOutputChannel('Sample Log');
  output.appendLine(`started, SAMPLE_WORD=${process.env.SAMPLE_WORD}, trusted=${vscode.workspace.isTrusted}`);
  const status = vscode.window.createStatusBarItem('sample.status', vscode.StatusBarAlignment.Left);
  status.text = '$(beaker) Sample ready';
  status.command = 'sample.greet';
  status.show();
  const fruit = new FruitTree();
  const starts = context.globalState.get('starts', 0) + 1;
  context.globalState.update('starts', starts);
  output.appendLine(`start number ${starts}`);

  const say = (text) => vscode.window.showInformationMessage(text);
  const commands = {
    'sample.greet': greet,
    'sample.greetAll': () => say('Hello everyone'),
    'sample.ask': ask,
    'sample.choose': choose,
    'sample.confirm': confirm,
    'sample.panel': openPanel,
    'sample.run': (name) => say(`Ran ${name}`),
    'sample.remove': (name) => fruit.remove(name),
    'sample.refresh': () => say('Refreshed'),
  };
  const registered = Object.entries(commands).map(([id, run]) => vscode.commands.registerCommand(id, run));
  const tree = vscode.window.createTreeView('sample.fruit', { treeDataProvider: fruit });
  context.subscriptions.push(output, status, tree, ...registered);
};
