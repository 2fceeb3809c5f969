/** Errors in the language of the editor. Core, command line and journal have them in English. */
import * as vscode from 'vscode';
import { type ErrorParams, type ErrorValue, fillText, textOf } from '../protocol/index.ts';
import { wordForState } from './trees/runs/run-words.ts';

export interface ErrorWords {
  /** One line; more of them where something was printed. */
  message: string;
  hint: string | undefined;
}

// Under another name, because these texts are collected from the catalogue and not from this call.
const translate = vscode.l10n.t;

/** An error that is not of the catalogue, from a provider or a newer Pi Lanes, keeps the words it has. */
export function errorWords(error: ErrorValue): ErrorWords {
  const text = textOf(error);
  if (!text) return { message: error.message, hint: error.hint };
  const params = error.params ?? {};
  const english = fillText(text.message, params);
  // What was printed stands behind the text. A text that was cut or redacted differently is there once, translated.
  const detail = error.message.startsWith(english) ? error.message.slice(english.length) : '';
  return {
    message: `${translate(text.message, translated(params))}${detail}`,
    hint: text.hint === undefined ? error.hint : translate(text.hint, translated(params)),
  };
}

/** The error with its words translated, for pages: they cannot look translations up. */
export function translatedError(error: ErrorValue): ErrorValue {
  const { message, hint } = errorWords(error);
  return { ...error, message, ...(hint === undefined ? {} : { hint }) };
}

/** Names, paths, numbers and the words of the system stay; the state of a run has a word in every language. */
function translated(params: ErrorParams): ErrorParams {
  const state = wordForState(params['state']);
  return state === undefined ? params : { ...params, state };
}
