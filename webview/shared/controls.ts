/**
 * The standard controls of the pages: the only file that knows the toolkit. Registers `vscode-button`, `vscode-text-area`,
 * `vscode-text-field` and `vscode-progress-ring`.
 */
import {
  provideVSCodeDesignSystem,
  vsCodeButton,
  vsCodeProgressRing,
  vsCodeTextArea,
  vsCodeTextField,
} from '@vscode/webview-ui-toolkit';
import { ref } from 'lit/directives/ref.js';

export function registerControls(): void {
  provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeTextArea(), vsCodeTextField(), vsCodeProgressRing());
}

/** Names a text control, inside its tag: the toolkit writes a name of its own over `aria-label` when one is connected. */
export function controlName(name: string) {
  return ref((element) => queueMicrotask(() => element?.setAttribute('aria-label', name)));
}

/** What stands in the text control an event came to. */
export function textIn({ currentTarget }: Event): string {
  return currentTarget instanceof HTMLElement && 'value' in currentTarget ? String(currentTarget.value) : '';
}

/** Puts a text into the control that an event came from. */
export function setText({ currentTarget }: Event, text: string): void {
  if (currentTarget instanceof HTMLElement && 'value' in currentTarget) currentTarget.value = text;
}

/** Gives a text control the focus with all of its text selected, so that typing replaces it. */
export function focusWithText(control: HTMLElement | null): void {
  control?.focus();
  control?.shadowRoot?.querySelector('input')?.select();
}
