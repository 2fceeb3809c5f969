/**
 * The Pi extension that says which tools there are: `pi --mode rpc -e pi-probe.mjs`, for one question. Like a child's, it looks
 * when the first thing is said to Pi, because other extensions may bring their tools until then; nothing comes of what is said.
 */
import { TOOLS_KEY, TOOLS_READY } from '../../protocol/index.ts';

interface Context {
  ui: { setStatus(key: string, text: string): void };
}

interface Pi {
  on(event: 'session_start', handler: (event: unknown, context: Context) => void): void;
  on(event: 'input', handler: (event: unknown, context: Context) => { action: 'handled' }): void;
  getAllTools(): { name: string; sourceInfo?: { path?: string; source?: string } }[];
}

export default function piProbe(pi: Pi): void {
  pi.on('input', (_, { ui }) => {
    const tools = pi.getAllTools().map(({ name, sourceInfo: { path, source } = {} }) => ({ name, path, source }));
    ui.setStatus(TOOLS_KEY, JSON.stringify(tools));
    return { action: 'handled' };
  });
  pi.on('session_start', (_, { ui }) => ui.setStatus(TOOLS_KEY, TOOLS_READY));
}
