// Stands in for @vscode/spdlog, the native logger of VS Code. Without it there are no log files, and every output channel
// stays empty. Files are neither rotated nor buffered: test runs are short.
const { appendFileSync, closeSync, mkdirSync, openSync } = require('node:fs');
const { dirname } = require('node:path');

const LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'];

function localTime(date) {
  const pad = (value, width = 2) => String(value).padStart(width, '0');
  const day = `${pad(date.getFullYear(), 4)}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  return `${day} ${time}.${pad(date.getMilliseconds(), 3)}`;
}

class Logger {
  constructor(_type, _name, file) {
    this.file = file;
    this.level = LEVELS.indexOf('info');
    this.raw = false;
    mkdirSync(dirname(file), { recursive: true });
    closeSync(openSync(file, 'a'));
  }

  write(level, message) {
    if (level < this.level) return;
    const line = this.raw ? String(message) : `${localTime(new Date())} [${LEVELS[level]}] ${message}\n`;
    try {
      appendFileSync(this.file, line);
    } catch {
      // The folder is gone when the editor is being closed.
    }
  }

  trace(message) {
    this.write(0, message);
  }
  debug(message) {
    this.write(1, message);
  }
  info(message) {
    this.write(2, message);
  }
  warn(message) {
    this.write(3, message);
  }
  error(message) {
    this.write(4, message);
  }
  critical(message) {
    this.write(5, message);
  }

  getLevel() {
    return this.level;
  }
  setLevel(level) {
    this.level = level;
  }
  setPattern() {
    this.raw = false;
  }
  /** Without formatters the caller brings the line ends, as output channels do. */
  clearFormatters() {
    this.raw = true;
  }
  flush() {}
  drop() {}
}

exports.version = 0;
exports.Logger = Logger;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.createRotatingLogger = async (name, file) => new Logger('rotating', name, file);
exports.createAsyncRotatingLogger = async (name, file) => new Logger('rotating_async', name, file);
