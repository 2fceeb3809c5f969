export { editJsonFile } from './edit-json-file.ts';
export { readJsonFile } from './read-json-file.ts';
