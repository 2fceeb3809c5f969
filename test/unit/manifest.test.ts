import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import {
  BUILT_IN,
  COMMANDS,
  CONTEXT,
  ITEM,
  LIBRARY_VIEW,
  RUNS_VIEW,
  TOLD,
  TRANSCRIPT_VIEW,
  WALKTHROUGH,
} from '../../src/extension/command-ids.ts';
import { projectRoot } from '../support/project-root.ts';
import { tempDir } from '../support/temp.ts';

const root = projectRoot();
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
const json = (path: string): unknown => JSON.parse(textOf(path));

const menuItem = z.object({ command: z.string(), when: z.optional(z.string()), group: z.optional(z.string()) });
const view = z.object({ id: z.string(), name: z.string(), icon: z.optional(z.string()) });

/** The parts of package.json that have to agree with something else. */
const manifest = z
  .looseObject({
    icon: z.string(),
    main: z.string(),
    bin: z.record(z.string(), z.string()),
    engines: z.object({ vscode: z.string() }),
    devDependencies: z.record(z.string(), z.string()),
    activationEvents: z.array(z.string()),
    capabilities: z.object({
      untrustedWorkspaces: z.object({ restrictedConfigurations: z.array(z.string()) }),
    }),
    contributes: z.object({
      commands: z.array(z.object({ command: z.string(), title: z.string(), icon: z.optional(z.string()) })),
      viewsContainers: z.record(z.string(), z.array(z.object({ id: z.string(), icon: z.string() }))),
      views: z.record(z.string(), z.array(view)),
      viewsWelcome: z.array(z.object({ view: z.string(), contents: z.string(), when: z.optional(z.string()) })),
      menus: z.record(z.string(), z.array(menuItem)),
      keybindings: z.optional(z.array(menuItem)),
      configuration: z.object({
        properties: z.record(
          z.string(),
          z.object({ scope: z.optional(z.string()), enum: z.optional(z.array(z.string())) }),
        ),
      }),
      walkthroughs: z.array(
        z.object({
          id: z.string(),
          steps: z.array(
            z.object({
              description: z.string(),
              media: z.object({ svg: z.string() }),
              completionEvents: z.array(z.string()),
            }),
          ),
        }),
      ),
      languages: z.array(z.object({ id: z.string() })),
      grammars: z.array(z.object({ language: z.string(), scopeName: z.string(), path: z.string() })),
      configurationDefaults: z.record(z.string(), z.unknown()),
    }),
  })
  .parse(json('package.json'));
const texts = z.record(z.string(), z.string()).parse(json('package.nls.json'));

const { contributes } = manifest;
const commands = contributes.commands.map(({ command }) => command);
const containers = Object.values(contributes.viewsContainers).flat();
const views = Object.values(contributes.views).flat();
const settings = Object.keys(contributes.configuration.properties);
const menuItems = [...Object.values(contributes.menus).flat(), ...(contributes.keybindings ?? [])];

/** Every match of the expression's first group. */
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? '');

const sorted = (values: Iterable<string>) => [...new Set(values)].sort();

/** Sources of the extension by path. */
const sources = readdirSync(join(root, 'src', 'extension'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: textOf(join('src', 'extension', path)) }));

describe('what the manifest contributes', () => {
  it('are the commands and views of the code', () => {
    expect(sorted(commands)).toEqual(sorted(Object.values(COMMANDS)));
    expect(views.map(({ id }) => id)).toEqual([RUNS_VIEW, LIBRARY_VIEW]);
  });

  it('names each command once', () => {
    expect(commands).toHaveLength(new Set(commands).size);
  });

  it('puts views into containers that exist', () => {
    const own = containers.map(({ id }) => id);
    expect(own).toEqual(expect.arrayContaining(Object.keys(contributes.views)));
  });

  it('puts existing commands into menus', () => {
    for (const { command } of menuItems) expect(commands).toContain(command);
  });

  it('asks in conditions only for views that exist and for items that the trees make', () => {
    const ids = views.map(({ id }) => id);
    const items: string[] = Object.values(ITEM);
    for (const { when = '' } of menuItems) {
      for (const id of matches(when, /\bview [!=]= (\S+)/g)) expect(ids, when).toContain(id);
      for (const item of matches(when, /\bviewItem [!=]= (\S+)/g)) expect(items, when).toContain(item);
      for (const pattern of matches(when, /\bviewItem =~ \/(.+?)\/(?= |$)/g)) {
        expect(items.filter((item) => new RegExp(pattern).test(item)).length, when).toBeGreaterThan(0);
      }
      // Every alternative of a pattern is one of an item.
      for (const [, names = ''] of when.matchAll(/\\\.\(([\w|]+)\)\$\//g)) {
        const made = items.map((item) => item.split('.').at(-1));
        for (const name of names.split('|')) expect(made, when).toContain(name);
      }
      // Every mention is one of the three forms above.
      const read = matches(when, /\b(view(?:Item)?) (?:[!=]=|=~) \S/g);
      expect(matches(when, /\b(view(?:Item)?)\b(?!\.)/g), when).toEqual(read);
    }
  });

  it('offers for each item what can be done with it, and nothing else', () => {
    const files = ['copyRunId', 'revealRunFiles'];
    const looks = ['openTranscript', 'openTranscriptText', 'exportTranscript', ...files];
    const talks = ['steerRun', 'followUpRun', 'interruptRun', 'stopRun'];
    const childTalks = ['steerRun', 'followUpRun', 'interruptRun', 'stopChild'];
    const agentLooks = ['openDefinition', 'copyAgentName'];
    const agentUses = ['launchLibraryAgent', 'duplicateAgent', 'disableAgent'];
    const scriptLooks = ['openDefinition', 'revealDefinition', 'validateWorkflow'];
    const offers: Record<string, string[]> = {
      [ITEM.activeRun]: [...talks, ...looks],
      [ITEM.waitingRun]: ['answerQuestion', ...talks, ...looks],
      [ITEM.lostRun]: ['resumeRun', 'stopRun', ...looks],
      [ITEM.endingRun]: [...talks, 'forceStopRun', ...looks],
      [ITEM.unresponsiveRun]: ['forceStopRun', ...looks],
      [ITEM.unknownRun]: ['forceStopRun', ...looks],
      [ITEM.resumableRun]: ['resumeRun', ...looks],
      [ITEM.endedRun]: looks,
      [ITEM.unseenRun]: ['resumeRun', 'markRunSeen', ...looks],
      [ITEM.activeWorkflow]: ['stopRun', ...files],
      [ITEM.waitingWorkflow]: ['answerQuestion', 'stopRun', ...files],
      [ITEM.lostWorkflow]: ['resumeRun', 'stopRun', 'openResult', ...files],
      [ITEM.endingWorkflow]: ['stopRun', 'forceStopRun', ...files],
      [ITEM.unresponsiveWorkflow]: ['forceStopRun', ...files],
      [ITEM.resumableWorkflow]: ['resumeRun', 'openResult', ...files],
      [ITEM.unseenWorkflow]: ['resumeRun', 'markRunSeen', 'openResult', ...files],
      [ITEM.unseenFinalWorkflow]: ['markRunSeen', 'openResult', ...files],
      [ITEM.endedWorkflow]: ['openResult', ...files],
      [ITEM.activeChild]: [...childTalks, ...looks],
      [ITEM.waitingChild]: ['answerQuestion', ...childTalks, ...looks],
      [ITEM.endingChild]: [...childTalks, ...looks],
      [ITEM.endedChild]: looks,
      [ITEM.lane]: [],
      [ITEM.unstartedStage]: [],
      [ITEM.askingHost]: ['answerQuestion'],
      [ITEM.host]: [],
      [ITEM.worktree]: ['openWorktree', 'openWorktreeTerminal', 'revealWorktree', 'copyWorktreePath'],
      [ITEM.absentWorktree]: ['copyWorktreePath'],
      [ITEM.section]: [],
      [ITEM.needsWithFailed]: ['markAllSeen'],
      [ITEM.project]: [],
      [ITEM.problem]: [],
      [ITEM.more]: [],
      [ITEM.ownAgent]: [...agentLooks, ...agentUses, 'revealDefinition', 'deleteAgent'],
      [ITEM.replacingAgent]: [...agentLooks, ...agentUses, 'revealDefinition', 'deleteAgent', 'resetAgent'],
      [ITEM.bundledAgent]: [...agentLooks, ...agentUses, 'ejectAgent'],
      [ITEM.changedAgent]: [...agentLooks, ...agentUses, 'ejectAgent', 'resetAgent'],
      [ITEM.disabledAgent]: [...agentLooks, 'enableAgent'],
      [ITEM.disabledOwnAgent]: [...agentLooks, 'revealDefinition', 'enableAgent', 'deleteAgent'],
      [ITEM.brokenAgent]: [...agentLooks, 'revealDefinition', 'deleteAgent'],
      [ITEM.brokenOverride]: [...agentLooks, 'resetAgent'],
      [ITEM.hiddenAgent]: agentLooks,
      [ITEM.script]: [...scriptLooks, 'runWorkflow'],
      [ITEM.faultyScript]: scriptLooks,
      [ITEM.ownGroup]: ['newAgent'],
      [ITEM.scriptGroup]: ['newWorkflow'],
      [ITEM.group]: [],
      [ITEM.note]: [],
    };
    expect(sorted(Object.keys(offers))).toEqual(sorted(Object.values(ITEM)));
    const menu = contributes.menus['view/item/context'] ?? [];
    for (const [item, wanted] of Object.entries(offers)) {
      const offered = menu.filter(({ when = '' }) =>
        matches(when, /\bviewItem =~ \/(.+?)\/(?= |$)/g).every((pattern) => new RegExp(pattern).test(item)),
      );
      const named = sorted(offered.map(({ command }) => command.replace(/^piLanes\./, '')));
      expect([...new Set(named)], item).toEqual(sorted(wanted));
      // Whatever is offered beside a row can be reached with the keyboard, too.
      const inMenu = offered.filter(({ group = '' }) => !group.startsWith('inline')).map(({ command }) => command);
      for (const { command } of offered) expect(inMenu, item).toContain(command);
    }
  });

  it('asks in conditions only for context keys that the code sets', () => {
    const known = new Set<string>([...Object.values(CONTEXT), TRANSCRIPT_VIEW, ...views.map(({ id }) => id)]);
    for (const { when = '' } of [...menuItems, ...contributes.viewsWelcome]) {
      for (const key of matches(when, /\b(piLanes(?:\.\w+)+)/g)) expect(known, when).toContain(key);
    }
  });

  it('welcomes in views that exist, with commands that exist', () => {
    const ids = views.map(({ id }) => id);
    const known: string[] = [...commands, ...Object.values(BUILT_IN), 'vscode.openFolder'];
    for (const welcome of contributes.viewsWelcome) {
      expect(ids).toContain(welcome.view);
      const text = texts[welcome.contents.replaceAll('%', '')] ?? '';
      for (const id of matches(text, /\(command:([^)?]+)/g)) expect(known, text).toContain(id);
    }
  });

  it('colours languages that it brings along, by rules that can be read', () => {
    const rule = z.object({
      name: z.optional(z.string()),
      match: z.optional(z.string()),
      begin: z.optional(z.string()),
    });
    const grammar = z.object({ scopeName: z.string(), patterns: z.array(rule).check(z.minLength(1)) });
    for (const { language, scopeName, path } of contributes.grammars) {
      expect(contributes.languages.map(({ id }) => id)).toContain(language);
      const read = grammar.parse(json(path));
      expect(read.scopeName).toBe(scopeName);
      for (const { match, begin } of read.patterns) {
        expect(() => new RegExp(match ?? begin ?? '(', 'u'), match ?? begin).not.toThrow();
      }
    }
  });

  it('guides with commands, pictures and conditions that exist', () => {
    const known: string[] = [...commands, ...Object.values(BUILT_IN)];
    const keys = Object.values(CONTEXT).flatMap((key) => [`onContext:${key}`, `onContext:${key}${TOLD}`]);
    const steps = contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
    for (const { description, media, completionEvents } of steps) {
      const text = texts[description.replaceAll('%', '')] ?? '';
      for (const id of matches(text, /\(command:([^)?]+)/g)) expect(known, text).toContain(id);
      expect(existsSync(join(root, media.svg)), media.svg).toBe(true);
      expect(textOf('.vscodeignore')).toContain(`!${media.svg}\n`);
      for (const event of completionEvents) expect(keys).toContain(event);
    }
    expect(contributes.walkthroughs.map(({ id }) => `pi-lanes.pi-lanes#${id}`)).toEqual([WALKTHROUGH]);
  });

  it('configures languages that it brings along', () => {
    const ids = contributes.languages.map(({ id }) => `[${id}]`);
    for (const key of Object.keys(contributes.configurationDefaults)) expect(ids).toContain(key);
  });

  it('has settings that the code reads', () => {
    const code = sources.map(({ text }) => text).join('\n');
    for (const key of settings) expect(code).toContain(`'${key.replace(/^piLanes\./, '')}'`);
  });

  it('restricts in an untrusted workspace every setting that names programs or files, and only settings that exist', () => {
    const { restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
    expect(settings).toEqual(expect.arrayContaining(restrictedConfigurations));
    for (const key of settings.filter((name) => /\.path$|^piLanes\.worktrees\./.test(name))) {
      expect(restrictedConfigurations).toContain(key);
      expect(contributes.configuration.properties[key]?.scope, key).toBe('machine-overridable');
    }
  });

  it('is all that the code and the documentation call by our name', () => {
    const ids = views.map(({ id }) => id);
    const known = new Set<string>([
      ...commands,
      ...settings,
      ...ids,
      ...Object.values(CONTEXT),
      TRANSCRIPT_VIEW,
      'piLanes.status',
    ]);
    const pages = readdirSync(join(root, 'docs')).map((name) => join('docs', name));
    const all = [...sources.map(({ path }) => join('src', 'extension', path)), ...pages, 'README.md'];
    for (const path of all) {
      for (const id of matches(textOf(path), /\b(piLanes(?:\.\w+)+)/g)) expect(known, path).toContain(id);
    }
  });

  it('activates as documented', () => {
    expect(manifest.activationEvents).toEqual(['onStartupFinished', 'onWebviewPanel:piLanes.transcript']);
    for (const event of manifest.activationEvents) expect(textOf('docs/startup-flow.md')).toContain(`\`${event}\``);
  });
});

describe('texts', () => {
  it('of the manifest stand in package.nls.json, and no others do', () => {
    expect(sorted(Object.keys(texts))).toEqual(sorted(matches(textOf('package.json'), /"%([\w.]+)%"/g)));
    for (const [key, text] of Object.entries(texts)) expect(text.trim(), key).not.toBe('');
  });

  it('of the manifest are all there to be translated', () => {
    const shown = [...contributes.commands.map(({ title }) => title), ...views.map(({ name }) => name)];
    for (const text of [...shown, ...contributes.viewsWelcome.map(({ contents }) => contents)]) {
      expect(text).toMatch(/^%[\w.]+%$/);
    }
  });

  it('of the code are all there to be translated', () => {
    const literal =
      /(?:show(?:Error|Information|Warning)Message\(|\b(?:title|placeHolder|prompt|detail|tooltip|label):)\s*['"`].*/g;
    const untranslated = sources.flatMap(({ path, text }) =>
      (text.match(literal) ?? []).map((hit) => `${path}: ${hit}`),
    );
    expect(untranslated).toEqual([]);
  });
});

/** A bundle and what it imports before anything of it runs. */
function loadedAtOnce(folder: string, name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const source = readFileSync(join(folder, name), 'utf8');
  for (const [, other = ''] of source.matchAll(/\b(?:from|import)\s*"\.\/([^"]+)"/g))
    loadedAtOnce(folder, other, found);
  return found;
}

describe('what is packed', () => {
  const [first, ...lines] = textOf('.vscodeignore').trim().split('\n');
  const packed = lines.map((line) => line.replace(/^!/, ''));

  it('is a list of names, everything else stays out', () => {
    expect(first).toBe('**');
    // Only what is built has names that are not known before.
    for (const line of lines) expect(line).toMatch(/^!(?:[\w./-]+|dist\/[\w-]+\*\.mjs)$/);
  });

  it('has every file that the manifest names', () => {
    const icons = [...contributes.commands, ...containers, ...views].map(({ icon }) => icon ?? '');
    const grammars = contributes.grammars.map(({ path }) => path);
    const named = [manifest.icon, manifest.main, ...Object.values(manifest.bin), ...icons, ...grammars]
      .filter((path) => path !== '' && !path.startsWith('$('))
      .map((path) => path.replace(/^\.\//, ''));
    expect(packed).toEqual(expect.arrayContaining(named));
    for (const path of ['package.json', 'package.nls.json', 'README.md', 'CHANGELOG.md', 'LICENSE']) {
      expect(packed).toContain(path);
    }
  });

  it('is there', () => {
    for (const path of packed.filter((name) => !name.startsWith('dist/')))
      expect(existsSync(join(root, path)), path).toBe(true);
  });

  it('has everything that is built, and nothing else of it', async () => {
    await using folder = await tempDir();
    const { buildAll } = await import(pathToFileURL(join(root, 'esbuild.mjs')).href);
    const outdir = join(folder.path, 'dist');
    await buildAll({ outdir, minify: true });
    const runtime = z
      .object({ files: z.array(z.string()) })
      .parse(JSON.parse(readFileSync(join(outdir, 'runtime.json'), 'utf8')));
    const built = readdirSync(outdir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(folder.path.length + 1)
          .replaceAll('\\', '/'),
      );
    // What a detached runner executes is the runner and what it loads, the engine of scripts, and what it has Pi load.
    const runner = built.filter((name) =>
      /^dist\/(?:runner.*\.mjs|engine-worker\.mjs|quickjs\.wasm|pi-child\.mjs)$/.test(name),
    );
    expect(runtime.files.map((name) => `dist/${name}`).sort()).toEqual(runner.sort());
    expect(runtime.files).toContain('runner.mjs');
    // What workflows alone need is loaded by them alone.
    const atOnce = loadedAtOnce(outdir, 'runner.mjs');
    expect(atOnce.size).toBeGreaterThan(1);
    expect(atOnce.size).toBeLessThan(runtime.files.filter((name) => name.startsWith('runner')).length);
    const bytes = [...atOnce].reduce((sum, name) => sum + statSync(join(outdir, name)).size, 0);
    expect(bytes).toBeLessThan(400_000);
    // Every child reads it anew, and Pi has no use for what it imports.
    const extension = readFileSync(join(outdir, 'pi-child.mjs'), 'utf8');
    expect(extension.length).toBeLessThan(60_000);
    expect(extension.match(/\bfrom"(?!node:)[^"]*"/g)).toBeNull();
    const patterns = packed.filter((name) => name.startsWith('dist/'));
    for (const name of built) {
      expect(
        patterns.filter((pattern) => matchesGlob(name, pattern)),
        name,
      ).toHaveLength(1);
    }
    for (const pattern of patterns) {
      expect(built.filter((name) => matchesGlob(name, pattern)).length, pattern).toBeGreaterThan(0);
    }
  });
});

describe('versions', () => {
  it('of the editor: the oldest that is supported is the one that is compiled against', () => {
    expect(manifest.engines.vscode).toBe(`^${manifest.devDependencies['@types/vscode']}`);
  });

  it('of packages are exact, and none is needed at run time', () => {
    for (const [name, version] of Object.entries(manifest.devDependencies)) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+/);
    }
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies', 'bundledDependencies']) {
      expect(manifest).not.toHaveProperty(kind);
    }
  });
});
