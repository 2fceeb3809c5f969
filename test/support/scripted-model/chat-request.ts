import { z } from 'zod';

const part = z.looseObject({ type: z.string(), text: z.string().optional() });

const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(part), z.null()]).optional(),
});

/** The part of an OpenAI chat completions request that the scripted model reads; other fields are let through. */
export const chatRequestSchema = z.looseObject({
  model: z.string(),
  messages: z.array(message),
  stream: z.boolean().optional(),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
});

export type ChatRequest = z.output<typeof chatRequestSchema>;
export type ChatMessage = z.output<typeof message>;

/** All text of a message; images and other parts are left out. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((one) => one.text ?? '').join('');
}
