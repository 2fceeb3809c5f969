export { EMPTY_JSON, editedJson, editJsonFile } from './edit-json-file.ts';
export { readJsonFile } from './read-json-file.ts';
