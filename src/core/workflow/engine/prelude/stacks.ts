/**
 * Stacks show the frames of the script and nothing else: the engine asks this code for the text of every stack, and the
 * script cannot put its own code there, which could reach functions through call sites.
 */
import { defineProperty, getPrototypeOf, toText, uncurry } from './primordials.ts';

const SCRIPT = 'workflow.js';
const FRAMES = 20;
const { max } = Math;

interface CallSite {
  getFileName(): string | null;
  getLineNumber(): number | null;
  getColumnNumber(): number | null;
  getFunctionName(): string | null;
}

interface StackHook {
  prepareStackTrace?: ((error: unknown, sites: CallSite[]) => unknown) | undefined;
  stackTraceLimit: number;
}

/** @param opening how many characters stand before the script on its first line */
export function cleanStacks(opening: number): void {
  const hook = Error as unknown as StackHook;
  let prototype: CallSite | undefined;
  hook.prepareStackTrace = (_error, sites) => {
    prototype = getPrototypeOf(sites[0] as CallSite) as CallSite;
    return '';
  };
  void new Error('to see a call site').stack;
  if (!prototype) return;
  const fileName = uncurry(prototype.getFileName);
  const lineNumber = uncurry(prototype.getLineNumber);
  const columnNumber = uncurry(prototype.getColumnNumber);
  const functionName = uncurry(prototype.getFunctionName);
  hook.stackTraceLimit = FRAMES;
  hook.prepareStackTrace = (_error, sites) => {
    let text = '';
    for (let index = 0; index < sites.length; index++) {
      const site = sites[index] as CallSite;
      if (fileName(site) !== SCRIPT) continue;
      const line = lineNumber(site) ?? 0;
      // The engine sometimes names the place before a token, which for the first one is not in the script.
      const found = (columnNumber(site) ?? 0) - (line === 1 ? opening : 0);
      const column = max(found, 1);
      const name = functionName(site);
      const place = `${SCRIPT}:${toText(line)}:${toText(column)}`;
      text += name ? `    at ${name} (${place})\n` : `    at ${place}\n`;
    }
    return text;
  };
  for (const name of ['prepareStackTrace', 'stackTraceLimit'] as const) {
    const value = name === 'stackTraceLimit' ? FRAMES : undefined;
    defineProperty(Error, name, { value, writable: false, configurable: false, enumerable: false });
  }
}
