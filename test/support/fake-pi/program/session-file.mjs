// Pi's session file, format 3: a header line and then one entry per line, only ever appended.
import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';

export class SessionError extends Error {}

export class SessionFile {
  header;
  entries = [];
  /** Undefined with `--no-session`. */
  path;
  #saved = false;
  #stopped = false;
  #headerless = false;
  #savesEarly;

  constructor(header, path, abilities) {
    this.header = header;
    this.path = path;
    this.#savesEarly = abilities.savesEarly;
  }

  /** @throws SessionError with the text Pi prints */
  static open(args, { cwd, env, abilities, warn }) {
    const folder = args.sessionDir ? resolve(args.sessionDir) : defaultFolder(cwd, env);
    const fresh = (id) => SessionFile.#create(folder, cwd, { id, abilities });
    if (args.noSession) return new SessionFile(headerOf(randomUUID(), cwd), undefined, abilities);
    if (args.fork) return SessionFile.#fork(locate(args.fork, folder), folder, cwd, args.sessionId, abilities);
    if (args.session) return SessionFile.#resume(locate(args.session, folder), cwd, abilities);
    if (!args.sessionId) return fresh(randomUUID());
    const known = findById(args.sessionId, folder);
    if (known) return SessionFile.#resume(known, cwd, abilities);
    warn(`Warning: No project session found with id '${args.sessionId}'; creating a new session with that id.\n`);
    return fresh(args.sessionId);
  }

  static #create(folder, cwd, { id, abilities, parentSession, path }) {
    const header = headerOf(id, cwd, parentSession);
    const name = `${header.timestamp.replace(/[:.]/g, '-')}_${id}.jsonl`;
    return new SessionFile(header, path ?? join(folder, name), abilities);
  }

  static #resume(path, cwd, abilities) {
    if (!existsSync(path)) return SessionFile.#create('', cwd, { id: randomUUID(), abilities, path });
    const lines = readLines(path);
    const header = lines.find((line) => line.type === 'session');
    if (!header) throw new SessionError(`Error: Session file is not a valid pi session: ${path}`);
    if (!existsSync(header.cwd)) {
      throw new SessionError(`Stored session working directory does not exist: ${header.cwd}`);
    }
    const session = new SessionFile(header, path, abilities);
    session.entries = lines.filter((line) => line.type !== 'session');
    session.#saved = true;
    return session;
  }

  static #fork(source, folder, cwd, id, abilities) {
    const lines = existsSync(source) ? readLines(source) : [];
    if (!lines.some((line) => line.type === 'session')) {
      throw new SessionError(`Error: Cannot fork: source session file is empty or invalid: ${source}`);
    }
    if (id !== undefined && findById(id, folder)) throw new SessionError(`Session already exists with id '${id}'`);
    const session = SessionFile.#create(folder, cwd, { id: id ?? randomUUID(), abilities, parentSession: source });
    session.entries = lines.filter((line) => line.type !== 'session');
    session.#writeAll();
    return session;
  }

  get id() {
    return this.header.id;
  }

  get leafId() {
    return this.entries.at(-1)?.id ?? null;
  }

  get messages() {
    return this.entries.filter((entry) => entry.type === 'message').map((entry) => entry.message);
  }

  /** The newest entry of a type. */
  last(type) {
    return this.entries.findLast((entry) => entry.type === type);
  }

  append(type, fields) {
    const count = this.entries.length;
    const id = createHash('sha256').update(`${this.id} ${count}`).digest('hex').slice(0, 8);
    const entry = { type, id, parentId: this.leafId, timestamp: new Date().toISOString(), ...fields };
    this.entries.push(entry);
    this.#save(entry);
    return entry;
  }

  /** The file will begin without its header. */
  leaveOutHeader() {
    this.#headerless = true;
  }

  /** Removes the file. `recreate`: what is said later makes a new file, without header, as with Pi itself. */
  remove({ recreate }) {
    if (this.path && existsSync(this.path)) unlinkSync(this.path);
    this.#stopped = !recreate;
  }

  #save(entry) {
    if (!this.path || this.#stopped) return;
    if (this.#saved) appendFileSync(this.path, `${JSON.stringify(entry)}\n`);
    else if (this.#hasBegun()) this.#writeAll();
  }

  #hasBegun() {
    const roles = this.#savesEarly ? ['user', 'assistant'] : ['assistant'];
    return this.messages.some((message) => roles.includes(message.role));
  }

  #writeAll() {
    mkdirSync(resolve(this.path, '..'), { recursive: true });
    const lines = [...(this.#headerless ? [] : [this.header]), ...this.entries];
    writeFileSync(this.path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { flag: 'wx' });
    this.#saved = true;
  }
}

function headerOf(id, cwd, parentSession) {
  const header = { type: 'session', version: 3, id, timestamp: new Date().toISOString(), cwd };
  return parentSession === undefined ? header : { ...header, parentSession };
}

function defaultFolder(cwd, env) {
  const agentDir = env.PI_CODING_AGENT_DIR ?? join(homedir(), '.pi', 'agent');
  return join(agentDir, 'sessions', `--${cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`);
}

/** Lines that can be read; a partial last line is skipped. */
function readLines(path) {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
}

/** A path, or the file whose session id is or begins with the text. */
function locate(text, folder) {
  if (/[/\\]/.test(text) || text.endsWith('.jsonl')) return resolve(text);
  const found = findById(text, folder) ?? findById(text, folder, { prefix: true });
  if (!found) throw new SessionError(`No session found matching '${text}'`);
  return found;
}

function findById(id, folder, { prefix = false } = {}) {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jsonl')) : [];
  const name = files.find((file) => {
    const own = basename(file, '.jsonl').split('_').slice(1).join('_');
    return prefix ? own.startsWith(id) : own === id;
  });
  return name && join(folder, name);
}
