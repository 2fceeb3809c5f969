import { z } from 'zod';
import { demo } from './demo-script.ts';
import { type Script, script, stepSchema } from './step.ts';
import { fillTemplate } from './template.ts';
import { troubleScripts } from './trouble-scripts.ts';

/**
 * Text that breaks careless framing and decoding: U+2028 and U+2029 (line ends for some splitters), a no-break space,
 * emoji made of several code points, CJK, right-to-left, a combining accent, and letters beyond the first plane.
 */
export const UNICODE_SAMPLE =
  'line\u2028separator\u2029paragraph\u00a0space 🦊👩‍👩‍👧‍👦🏳️‍🌈 漢字かな한글 עברית العربية e\u0301 𝕏𠮷 "quoted" \\n <b>&amp;</b>';

const noArgs = z.strictObject({});
const seconds = z.coerce.number().min(0);

/** The built-in library. `default` answers prompts without a marker, `summary` answers compaction requests. */
export const builtInScripts: Readonly<Record<string, Script>> = {
  ...troubleScripts,
  demo,

  default: script({
    summary: 'what a prompt without SCRIPT: gets',
    args: noArgs,
    steps: () => [{ text: 'Hello! I am a scripted model. Begin a message with SCRIPT:demo to see me work.' }],
  }),
  summary: script({
    summary: 'the answer to a compaction request',
    args: noArgs,
    steps: () => [{ text: '## Goal\nContinue the scripted conversation.\n\n## Progress\nThe earlier turns are done.' }],
  }),
  hello: script({
    summary: 'hello: one short text',
    args: noArgs,
    steps: () => [{ text: 'Hello from the scripted model.' }],
  }),
  say: script({
    summary: 'say {"text":"…"}: answers with exactly that text',
    args: z.strictObject({ text: z.string() }),
    steps: ({ text }) => [{ text }],
  }),
  steps: script({
    summary: 'steps [{…},…]: plays the steps given as JSON; {{tool}} and {{later}} are filled in',
    args: z.array(stepSchema),
    steps: (steps) => steps.map((step) => (conversation) => fillTemplate(step, conversation)),
  }),
  edit: script({
    summary: 'edit [file=out.txt] [content="scripted\\n"]: write, read, bash, then a text with what bash printed',
    args: z.strictObject({ file: z.string().min(1).default('out.txt'), content: z.string().default('scripted\n') }),
    steps: ({ file, content }) => [
      { calls: [{ tool: 'write', args: { path: file, content } }] },
      { calls: [{ tool: 'read', args: { path: file } }] },
      { calls: [{ tool: 'bash', args: { command: `cat '${file.replaceAll("'", "'\\''")}'` } }] },
      ({ lastToolResult }) => ({ text: `${file} holds: ${lastToolResult.trim()}` }),
    ],
  }),
  think: script({
    summary: 'think: thinking, then a text',
    args: noArgs,
    steps: () => [{ thinking: 'First I think about it. ', text: 'Then I answer.' }],
  }),
  slow: script({
    summary: 'slow [tokens=600] [tokenMs=50]: a long text, word by word',
    args: z.strictObject({
      tokens: z.coerce.number().int().default(600),
      tokenMs: z.coerce.number().default(50),
    }),
    steps: ({ tokens, tokenMs }) => [{ tokens, tokenMs }],
  }),
  'bash-sleep': script({
    summary: 'bash-sleep [seconds=600]: one bash call that sleeps in the foreground',
    args: z.strictObject({ seconds: seconds.default(600) }),
    steps: (args) => [{ calls: [{ tool: 'bash', args: { command: `sleep ${args.seconds}` } }] }, { text: 'slept' }],
  }),
  'bash-background': script({
    summary: 'bash-background [seconds=600] [file=background.pid]: bash leaves a sleep behind that holds its pipes',
    args: z.strictObject({ seconds: seconds.default(600), file: z.string().min(1).default('background.pid') }),
    steps: (args) => [
      {
        calls: [
          { tool: 'bash', args: { command: `sleep ${args.seconds} & echo $! > ${args.file}; echo left it running` } },
        ],
      },
      ({ lastToolResult }) => ({ text: `bash said: ${lastToolResult.trim()}` }),
    ],
  }),
  'parallel-tools': script({
    summary: 'parallel-tools [count=3]: bash calls made in one turn, then a text with all their results',
    args: z.strictObject({ count: z.coerce.number().int().min(1).max(64).default(3) }),
    steps: ({ count }) => [
      {
        calls: Array.from({ length: count }, (_, index) => ({ tool: 'bash', args: { command: `echo tool-${index}` } })),
      },
      ({ toolResults }) => ({ text: toolResults.map((one) => one.trim()).join(', ') }),
    ],
  }),
  'echo-steer': script({
    summary: 'echo-steer [seconds=1]: a bash call long enough to steer into, then a text with what was said meanwhile',
    args: z.strictObject({ seconds: seconds.default(1) }),
    steps: (args) => [
      { calls: [{ tool: 'bash', args: { command: `sleep ${args.seconds}` } }] },
      ({ later }) => ({ text: `steered: ${later.join(' | ') || '(nothing)'}` }),
    ],
  }),
  huge: script({
    summary: 'huge [bytes=2000000]: a text of exactly that many bytes',
    args: z.strictObject({ bytes: z.coerce.number().int().default(2_000_000) }),
    steps: ({ bytes }) => [{ bytes }],
  }),
  unicode: script({
    summary: 'unicode: text with U+2028, emoji, CJK and other letters',
    args: noArgs,
    steps: () => [{ text: UNICODE_SAMPLE }],
  }),
  compact: script({
    summary: 'compact [input=125000] [bytes=100000]: a long text and a usage near the context window',
    args: z.strictObject({
      input: z.coerce.number().int().default(125_000),
      bytes: z.coerce.number().int().default(100_000),
    }),
    steps: ({ input, bytes }) => [{ bytes, usage: { input, output: 10 } }],
  }),
};
