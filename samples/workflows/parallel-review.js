// Parallel review: three agents look at the same code from different sides, a fourth makes one report of it.
const { target = 'src/berths.js' } = args ?? {};

const reviews = await runs.all([
  { key: 'correctness', agent: 'reviewer', task: `Review ${target}. Look only for wrong results.` },
  { key: 'edge-cases', agent: 'reviewer', task: `Review ${target}. Look only for edge cases that are not handled.` },
  { key: 'readers', agent: 'scout', task: `Read ${target} as somebody new. What is hard to understand, and why?` },
]);
const done = reviews.filter((review) => review.ok);
const failed = reviews.filter((review) => !review.ok).map((review) => review.key);
emit({ reviewed: target, failed });
if (done.length === 0) throw new Error('No review was finished.');

const findings = done.map((review) => `## ${review.key}\n\n${review.output}`).join('\n\n');
const report = await runs.run('report', {
  agent: 'oracle',
  task: `Make one report of these reviews of ${target}: most serious first, each finding once.\n\n${findings}`,
});
return { target, failed, report: report.output };
