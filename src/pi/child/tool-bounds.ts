/** What a child may use of the tools that Pi and its extensions offer, whoever brings them and whenever they come. */
import { ANSWER_TOOL, type ChildContract } from '../../protocol/index.ts';
import type { Pi, PiContext, ToolCall } from './pi.ts';

type Bounds = Pick<ChildContract, 'onlyTools' | 'deniedTools' | 'askedTools'>;

/** Bytes of what a call is made with that a person is shown. */
const PREVIEW_CHARS = 2000;

/** `undefined`: it may be called. */
export function refuseTool(tool: string, { onlyTools, deniedTools = [] }: Bounds): string | undefined {
  if (tool === ANSWER_TOOL) return undefined;
  if (deniedTools.includes(tool)) return `This agent may not use ${tool}.`;
  if (onlyTools && !onlyTools.includes(tool)) return `${tool} is none of the tools that this run allows.`;
  return undefined;
}

/** @param redact takes what looks like a secret out of a text */
export function keepBounds(pi: Pi, bounds: Bounds, redact: (text: string) => string): void {
  const { onlyTools, deniedTools = [], askedTools = [] } = bounds;
  if (onlyTools || deniedTools.length > 0) {
    const narrow = () => {
      const active = pi.getActiveTools();
      const allowed = active.filter((tool) => refuseTool(tool, bounds) === undefined);
      if (allowed.length < active.length) pi.setActiveTools(allowed);
    };
    // The model is not even told of them; extensions may bring theirs as late as the first message.
    pi.on('session_start', narrow);
    pi.on('input', () => {
      narrow();
      return undefined;
    });
  }
  pi.on('tool_call', async (call, context) => {
    const reason = refuseTool(call.toolName, bounds);
    if (reason !== undefined) return { block: true, reason };
    return askedTools.includes(call.toolName) ? ask(call, context, redact) : undefined;
  });
}

async function ask(
  { toolName, input }: ToolCall,
  { ui, signal }: PiContext,
  redact: (text: string) => string,
): Promise<{ block: true; reason: string } | undefined> {
  const preview = redact(JSON.stringify(input ?? {}, undefined, 2));
  const shown = preview.length > PREVIEW_CHARS ? `${preview.slice(0, PREVIEW_CHARS)}…` : preview;
  const isAllowed = await ui.confirm(`May it use ${toolName}?`, shown, signal ? { signal } : {});
  return isAllowed ? undefined : { block: true, reason: `A person has not allowed this call of ${toolName}.` };
}
