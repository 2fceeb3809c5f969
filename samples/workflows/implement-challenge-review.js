// Lanes: each piece of work is done, then doubted by an agent that has not done it, then reviewed. The lanes go on beside each
// other; one whose challenge answers with the verdict "blocked" ends there.
const verdict = {
  type: 'object',
  properties: {
    verdict: { type: 'string', enum: ['ok', 'blocked'] },
    reason: { type: 'string' },
  },
  required: ['verdict', 'reason'],
};

const board = await runs.lanes([
  {
    key: 'berths',
    stages: [
      { key: 'implement', agent: 'worker', task: 'Write docs/BERTHS.md: how a ship gets its berth, for new people.' },
      {
        key: 'challenge',
        agent: 'oracle',
        task: 'Compare docs/BERTHS.md with src/berths.js. Is anything in it wrong? Answer "blocked" if it is.',
        outputSchema: verdict,
      },
      { key: 'review', agent: 'reviewer', task: 'Review docs/BERTHS.md: is it clear and short?' },
    ],
  },
  {
    key: 'ships',
    stages: [
      { key: 'implement', agent: 'worker', task: 'Write docs/SHIPS.md: what a ship is in this program, for new people.' },
      {
        key: 'challenge',
        agent: 'oracle',
        task: 'Compare docs/SHIPS.md with src/berths.js. Is anything in it wrong? Answer "blocked" if it is.',
        outputSchema: verdict,
      },
      { key: 'review', agent: 'reviewer', task: 'Review docs/SHIPS.md: is it clear and short?' },
    ],
  },
]);
for (const lane of board) console.log(`${lane.key}: ${lane.state}`);
return board.map(({ key, state }) => ({ key, state }));
