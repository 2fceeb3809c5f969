// Fix until green: a command of this machine says whether the work is done; as long as it fails, an agent is told why.
const { rounds = 3 } = args ?? {};
const CHECK = 'node --test';

for (let round = 1; ; round += 1) {
  let failure = '';
  try {
    await runs.host(`check-${round}`, { kind: 'command', command: CHECK, timeoutMs: 120_000, role: 'ci' });
  } catch (error) {
    // Who does not allow the command wants nothing to be fixed by it.
    if (error.message.includes('not allowed')) throw error;
    failure = error.message;
  }
  if (failure === '') return { green: true, fixes: round - 1 };
  emit({ round, green: false });
  if (round > rounds) throw new Error(`Still red after ${rounds} rounds:\n${failure}`);
  await runs.run(`fix-${round}`, {
    agent: 'worker',
    task: `The command ${CHECK} fails:\n\n${failure}\n\nMend what it complains about. Leave the tests as they are.`,
  });
}
