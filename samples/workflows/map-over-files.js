// Map over files: one agent for each file, all at once. How many there will be is only known when it runs.
const files = args?.files ?? ['README.md', 'src/berths.js'];

const summaries = await runs.all(
  files.map((file, index) => ({
    key: `file-${index + 1}`,
    agent: 'scout',
    label: file,
    task: `Say in two sentences what ${file} is for.`,
  })),
);
return files.map((file, index) => ({
  file,
  summary: summaries[index].ok ? summaries[index].output : `not read: ${summaries[index].error}`,
}));
