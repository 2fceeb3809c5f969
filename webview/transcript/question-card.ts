/** A question of the child, with the ways its method has to answer. */
import { html, nothing, type TemplateResult } from 'lit';
import type { QuestionView, TranscriptWord } from '../../src/protocol/index.ts';
import { controlName } from '../shared/controls.ts';
import { icon } from '../shared/icons.ts';
import type { Words } from '../shared/words.ts';
import type { Questions } from './questions.ts';
import { messageText } from './shown-text.ts';

export function questionCard(question: QuestionView, words: Words<TranscriptWord>, act: Questions): TemplateResult {
  const problem = act.problem(question.id);
  const heading = `question-${question.id}`;
  return html`<section class="question" aria-labelledby=${heading} data-question=${question.id}>
    <h2 id=${heading}>${icon('question', 'warn')}<span>${messageText(question.title || words.text('question.name'))}</span></h2>
    ${question.message ? html`<p>${messageText(question.message)}</p>` : nothing}
    ${
      act.isAnswering(question.id)
        ? html`<p class="small"><vscode-progress-ring></vscode-progress-ring> ${words.text('question.answering')}</p>`
        : answers(question, words, act)
    }
    ${problem ? html`<p class="trouble">${icon('error', 'bad')}<span>${messageText(problem)}</span></p>` : nothing}
  </section>`;
}

function answers(question: QuestionView, words: Words<TranscriptWord>, act: Questions): TemplateResult {
  const { id } = question;
  const cancel = html`<vscode-button appearance="secondary" @click=${() => act.answer(id, { cancelled: true })}
    >${words.text('question.cancel')}</vscode-button
  >`;
  if (question.method === 'confirm')
    return html`<div class="answers">
      <vscode-button @click=${() => act.answer(id, { confirmed: true })}>${words.text('question.yes')}</vscode-button>
      <vscode-button appearance="secondary" @click=${() => act.answer(id, { confirmed: false })}
        >${words.text('question.no')}</vscode-button
      >
    </div>`;
  if (question.options.length > 0)
    return html`<div class="answers options">
      ${question.options.map(
        (option) => html`<button type="button" class="option" @click=${() => act.answer(id, { value: option })}>
          ${messageText(option)}
        </button>`,
      )}
      ${cancel}
    </div>`;
  return html`<form class="answers input" @submit=${(event: Event) => submitted(event, id, act)}>
    ${
      question.method === 'editor'
        ? html`<vscode-text-area rows="4" ${controlName(words.text('question.answer'))}></vscode-text-area>`
        : html`<vscode-text-field ${controlName(words.text('question.answer'))} @keydown=${entered}></vscode-text-field>`
    }
    <vscode-button @click=${(event: Event) => formOf(event)?.requestSubmit()}>${words.text('question.send')}</vscode-button>
    ${cancel}
  </form>`;
}

function entered(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.isComposing) return;
  event.preventDefault();
  formOf(event)?.requestSubmit();
}

function submitted(event: Event, id: string, act: Questions): void {
  event.preventDefault();
  const field = formOf(event)?.querySelector('vscode-text-area, vscode-text-field');
  act.answer(id, { value: field && 'value' in field ? String(field.value) : '' });
}

function formOf({ currentTarget }: Event): HTMLFormElement | null {
  return currentTarget instanceof Element ? currentTarget.closest('form') : null;
}
