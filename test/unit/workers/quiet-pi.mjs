// A Pi that is only asked for its models: answers the two questions over RPC and `--version`.
import { createInterface } from 'node:readline';

if (process.argv.includes('--version')) {
  console.log('1.6.0');
  process.exit();
}
const models = [
  { id: 'scripted', provider: 'fake', reasoning: true },
  { id: 'other', provider: 'fake' },
];
const answers = {
  get_state: { sessionId: 's', model: models[0] },
  get_available_models: { models },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, type } = JSON.parse(line);
  console.log(JSON.stringify({ id, type: 'response', command: type, success: true, data: answers[type] }));
});
