// The fake itself: what it was started with, and the parts that share it.
import { readFileSync } from 'node:fs';
import { Agent } from './agent.mjs';
import { COMMANDS, CommandError, knowsCommand } from './commands.mjs';
import { Dialogs } from './dialogs.mjs';
import { modelOf, NO_MODEL } from './messages.mjs';
import { Output } from './output.mjs';
import { findTask, PlanError } from './plan.mjs';
import { SessionFile } from './session-file.mjs';
import { Shutdown } from './shutdown.mjs';
import { runSteps } from './steps.mjs';
import { Aborted, LIFETIME_MS, pause } from './waiting.mjs';

const USUAL_MODELS = ['fake/scripted', 'fake/scripted-b'];
const LEVEL_SUFFIX = /:(off|minimal|low|medium|high|xhigh|max)$/;
const LF = 10;

/** A start that Pi refuses: the text goes to stderr, the exit code is 1. */
export class StartError extends Error {}

export class Fake {
  version;
  abilities;
  args;
  launch;
  state;
  session;
  model;
  models;
  thinkingLevel;
  systemPrompt;
  output = new Output(process.stdout);
  errors = new Output(process.stderr);
  dialogs = new Dialogs(this.output);
  agent = new Agent(this);
  shutdown = new Shutdown(this);
  /** What texts can be filled in with. */
  facts = { prompt: '', answers: [], steers: [], grandchildren: [], launch: 0, attempt: 0 };
  /** Nothing but force ends it. */
  isStuck = false;
  #task = {};
  #started = Promise.resolve();
  #wasAsked = false;

  /** @throws StartError, SessionError */
  constructor({ version, abilities, args, launch, launchNumber, state }) {
    Object.assign(this, { version, abilities, args, launch, state });
    this.facts.launch = launchNumber;
    this.#chooseModel();
    const warn = (text) => process.stderr.write(text);
    this.session = SessionFile.open(args, { cwd: process.cwd(), env: process.env, abilities, warn });
    if (this.hooks.session === 'headerless') this.session.leaveOutHeader();
    if (this.session.header.cwd !== process.cwd()) process.chdir(this.session.header.cwd);
    this.#noteSettings();
    this.systemPrompt = [args.systemPrompt, args.appendSystemPrompt].map(textOrFile).join('');
  }

  /** What is done with stdin's end, signals and commands: the task's wishes over those of the launch. */
  get hooks() {
    return { ...this.launch, ...this.#task, commands: { ...this.launch.commands, ...this.#task.commands } };
  }

  /** Whether messages go to the session file: old versions save nothing once they are ending. */
  saves() {
    return this.abilities.savesEarly || !this.shutdown.signal.aborted;
  }

  flush() {
    return Promise.all([this.output.flush(), this.errors.flush()]);
  }

  serve() {
    setTimeout(() => process.exit(97), LIFETIME_MS).unref();
    this.shutdown.listen();
    this.#listen();
    this.#started = runSteps(this.launch.start, { fake: this, signal: this.shutdown.signal });
    this.#started.catch((error) => this.crash(error));
  }

  stopListening() {
    process.stdin.pause();
    process.stdin.removeAllListeners('data');
  }

  /** The plan that is to be played for a prompt. */
  beginTask(given, { rest, source }) {
    const plan = given ?? this.#remembered() ?? this.launch.task ?? {};
    const attempt = plan.attempts ? this.state.count(plan.key ?? source ?? 'task') : 1;
    const chosen = plan.attempts?.[Math.min(attempt, plan.attempts.length) - 1];
    this.#task = { ...plan, ...chosen };
    this.facts.attempt = attempt;
    this.facts.prompt = rest;
    if (this.#task.session === 'headerless') this.session.leaveOutHeader();
    return this.#task;
  }

  /** The plan of the newest message of the session that brought one, for a fake that goes on with it. */
  #remembered() {
    if (!this.launch.remembers) return undefined;
    const asked = this.session.messages.filter((message) => message.role === 'user');
    const plans = asked.map(({ content }) => findTask(content.map(({ text }) => text ?? '').join('')).plan);
    return plans.findLast((plan) => plan !== undefined);
  }

  /** Fills in `{{name}}`. @throws PlanError for a name that does not exist */
  expand(text) {
    return text.replace(/\{\{([a-z]+)(?::(\w+))?\}\}/gi, (_whole, name, argument) => {
      const value = this.#fact(name, argument);
      if (value === undefined) throw new PlanError(`there is no {{${name}}}`);
      return value;
    });
  }

  #fact(name, argument) {
    const { facts, session } = this;
    const values = {
      prompt: () => facts.prompt,
      answer: () => facts.answers.at(-1) ?? '',
      answers: () => facts.answers.join(' | '),
      steers: () => facts.steers.join(' | '),
      launch: () => facts.launch,
      attempt: () => facts.attempt,
      users: () => session.messages.filter((message) => message.role === 'user').length,
      grandchild: () => facts.grandchildren.at(-1) ?? '',
      env: () =>
        argument === undefined ? Object.keys(process.env).sort().join(' ') : (process.env[argument] ?? '(absent)'),
      args: () => JSON.stringify(process.argv.slice(2)),
      cwd: () => process.cwd(),
      pid: () => process.pid,
      version: () => this.version,
      model: () => `${this.model.provider}/${this.model.id}`,
      thinking: () => this.thinkingLevel,
      session: () => session.path ?? '',
      system: () => this.systemPrompt,
    };
    const value = values[name]?.();
    return value === undefined ? undefined : String(value);
  }

  #listen() {
    let open = [];
    process.stdin.on('data', (chunk) => {
      let from = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
        const line = Buffer.concat([...open, chunk.subarray(from, end)]).toString('utf8');
        open = [];
        from = end + 1;
        this.#receive(line).catch((error) => this.crash(error));
      }
      if (from < chunk.length) open.push(chunk.subarray(from));
    });
    process.stdin.on('error', () => undefined);
    process.stdin.once('end', () => void this.shutdown.onInputEnd());
  }

  async #receive(line) {
    let command;
    try {
      command = JSON.parse(line);
    } catch (error) {
      await this.#respond(undefined, 'parse', { success: false, error: `Failed to parse command: ${error.message}` });
      return;
    }
    // Answers to dialogs count already while the start is under way; commands wait for it.
    if (command.type === 'extension_ui_response') this.dialogs.answer(command);
    else {
      await this.#started;
      await this.#handle(command);
    }
  }

  async #handle(command) {
    const { id, type } = command;
    const wish = this.hooks.commands[type];
    if (wish?.delayMs) await pause(wish.delayMs, this.shutdown.signal);
    if (wish?.silent) return;
    if (wish?.error !== undefined) return this.#respond(id, type, { success: false, error: wish.error });
    if (wish?.data !== undefined) return this.#respond(id, type, { success: true, data: wish.data });
    try {
      if (type === 'prompt') {
        await this.agent.prompt(command, ({ disposition, ...answer }) =>
          this.#respond(id, type, { ...answer, ...this.#disposition(disposition) }),
        );
      } else if (knowsCommand(type, this.version)) {
        const data = await COMMANDS[type](command, this);
        await this.#respond(id, type, { success: true, ...(data === undefined ? {} : { data }) });
      } else {
        const known = this.abilities.unknownCommandIds ? id : undefined;
        await this.#respond(known, type, { success: false, error: `Unknown command: ${type}` });
      }
    } catch (error) {
      if (!(error instanceof CommandError || error instanceof PlanError)) throw error;
      await this.#respond(id, type, { success: false, error: error.message });
    }
    if (type === 'get_state' && !this.#wasAsked) {
      this.#wasAsked = true;
      await runSteps(this.launch.ready, { fake: this, signal: this.shutdown.signal });
    }
  }

  #disposition(disposition) {
    return disposition !== undefined && this.abilities.dispositions ? { data: { disposition } } : {};
  }

  #respond(id, command, answer) {
    return this.output.record({ ...(id === undefined ? {} : { id }), type: 'response', command, ...answer });
  }

  /** @throws StartError when the provider is not known, as Pi does */
  #chooseModel() {
    const names = this.launch.models ?? USUAL_MODELS;
    this.models = names.map(modelOf);
    const level = LEVEL_SUFFIX.exec(this.args.model ?? '')?.[1];
    const wanted = this.args.model?.replace(LEVEL_SUFFIX, '');
    this.thinkingLevel = this.args.thinking ?? level ?? 'medium';
    if (wanted === undefined) {
      this.model = this.models[0] ?? NO_MODEL;
      return;
    }
    const known = names.find((name) => name === wanted || name.endsWith(`/${wanted}`));
    if (known) this.model = modelOf(known);
    else if (names.some((name) => wanted.startsWith(`${name.split('/')[0]}/`))) {
      const [provider, ...id] = wanted.split('/');
      this.model = modelOf(wanted);
      process.stderr.write(
        `Warning: Model "${id.join('/')}" not found for provider "${provider}". Using custom model id.\n`,
      );
    } else {
      throw new StartError(`Error: Model "${wanted}" not found. Use --list-models to see available models.`);
    }
  }

  /** The entries every session begins with; a resumed one gets only what has changed. */
  #noteSettings() {
    const { session } = this;
    const { name } = this.args;
    const settled = session.last('model_change');
    if (this.args.model === undefined && settled) this.model = modelOf(`${settled.provider}/${settled.modelId}`);
    const { model, thinkingLevel } = this;
    if (name !== undefined && session.last('session_info')?.name !== name) session.append('session_info', { name });
    if (settled?.provider !== model.provider || settled?.modelId !== model.id) {
      session.append('model_change', { provider: model.provider, modelId: model.id });
    }
    if (session.last('thinking_level_change')?.thinkingLevel !== thinkingLevel) {
      session.append('thinking_level_change', { thinkingLevel });
    }
  }

  /** A mistake in the plan or in the fake: the test must not go on. */
  crash(error) {
    if (error instanceof Aborted) return;
    process.stderr.write(`fake pi: ${error instanceof PlanError ? error.message : error.stack}\n`);
    process.exit(70);
  }
}

/** Pi takes the text, or the path of a file that holds it. */
function textOrFile(value) {
  if (value === undefined) return '';
  try {
    return readFileSync(value, 'utf8');
  } catch {
    return value;
  }
}
