import '../shared/strict-schemas.ts';
import { TRANSCRIPT_WORDS, transcriptPanelState } from '../../src/protocol/index.ts';
import { editorApi } from '../shared/bridge.ts';
import { registerControls } from '../shared/controls.ts';
import { readEmbedded } from '../shared/embedded.ts';
import { embeddedWords } from '../shared/words.ts';
import { TranscriptPage } from './page.ts';
import './styles/index.css';

const root = document.getElementById('page');
const subject = readEmbedded('subject', transcriptPanelState.shape.subject);
if (!root || !subject) throw new Error('the page was made without its root or its subject');
registerControls();
new TranscriptPage(root, editorApi(), embeddedWords(TRANSCRIPT_WORDS), subject).start();
