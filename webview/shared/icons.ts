/** VS Code's own icons, as inline SVG that takes the colour of the text around it. */

import account from '@vscode/codicons/src/icons/account.svg';
import add from '@vscode/codicons/src/icons/add.svg';
import arrowDown from '@vscode/codicons/src/icons/arrow-down.svg';
import arrowSwap from '@vscode/codicons/src/icons/arrow-swap.svg';
import preserveCase from '@vscode/codicons/src/icons/case-sensitive.svg';
import check from '@vscode/codicons/src/icons/check.svg';
import chevronDown from '@vscode/codicons/src/icons/chevron-down.svg';
import chevronRight from '@vscode/codicons/src/icons/chevron-right.svg';
import chevronUp from '@vscode/codicons/src/icons/chevron-up.svg';
import circleSlash from '@vscode/codicons/src/icons/circle-slash.svg';
import clock from '@vscode/codicons/src/icons/clockface.svg';
import close from '@vscode/codicons/src/icons/close.svg';
import comment from '@vscode/codicons/src/icons/comment.svg';
import copy from '@vscode/codicons/src/icons/copy.svg';
import debugContinue from '@vscode/codicons/src/icons/debug-continue.svg';
import debugPause from '@vscode/codicons/src/icons/debug-pause.svg';
import debugStop from '@vscode/codicons/src/icons/debug-stop.svg';
import edit from '@vscode/codicons/src/icons/edit.svg';
import error from '@vscode/codicons/src/icons/error.svg';
import file from '@vscode/codicons/src/icons/file.svg';
import fileMedia from '@vscode/codicons/src/icons/file-media.svg';
import fold from '@vscode/codicons/src/icons/fold.svg';
import goToFile from '@vscode/codicons/src/icons/go-to-file.svg';
import history from '@vscode/codicons/src/icons/history.svg';
import info from '@vscode/codicons/src/icons/info.svg';
import listTree from '@vscode/codicons/src/icons/list-tree.svg';
import loading from '@vscode/codicons/src/icons/loading.svg';
import output from '@vscode/codicons/src/icons/output.svg';
import passFilled from '@vscode/codicons/src/icons/pass-filled.svg';
import question from '@vscode/codicons/src/icons/question.svg';
import refresh from '@vscode/codicons/src/icons/refresh.svg';
import search from '@vscode/codicons/src/icons/search.svg';
import send from '@vscode/codicons/src/icons/send.svg';
import sparkle from '@vscode/codicons/src/icons/sparkle.svg';
import stopCircle from '@vscode/codicons/src/icons/stop-circle.svg';
import terminal from '@vscode/codicons/src/icons/terminal.svg';
import thinking from '@vscode/codicons/src/icons/thinking.svg';
import tools from '@vscode/codicons/src/icons/tools.svg';
import warning from '@vscode/codicons/src/icons/warning.svg';
import { html, type TemplateResult } from 'lit';
import { unsafeSVG } from 'lit/directives/unsafe-svg.js';

const ICONS = {
  account,
  add,
  arrowDown,
  arrowSwap,
  caseSensitive: preserveCase,
  check,
  chevronDown,
  chevronRight,
  chevronUp,
  circleSlash,
  clock,
  close,
  comment,
  copy,
  debugContinue,
  debugPause,
  debugStop,
  edit,
  error,
  file,
  fileMedia,
  fold,
  goToFile,
  history,
  info,
  listTree,
  loading,
  output,
  passFilled,
  question,
  refresh,
  search,
  send,
  sparkle,
  stopCircle,
  terminal,
  thinking,
  tools,
  warning,
};
export type IconName = keyof typeof ICONS;

/** An icon without a name of its own: what it stands beside, or the control it is in, says what it means. */
export function icon(name: IconName, kind = ''): TemplateResult {
  return html`<span class="icon ${kind}" data-icon=${name} aria-hidden="true">${unsafeSVG(ICONS[name])}</span>`;
}
