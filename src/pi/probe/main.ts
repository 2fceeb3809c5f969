/**
 * The Pi extension that says which tools there are: `pi --mode rpc -e pi-probe.mjs`, for one question. Like a child's, it looks
 * when the first thing is said to Pi, because other extensions may bring their tools until then; nothing comes of what is said.
 */
import { TOOLS_KEY } from '../../protocol/index.ts';

interface Pi {
  on(
    event: 'input',
    handler: (event: unknown, context: { ui: { setStatus(key: string, text: string): void } }) => { action: 'handled' },
  ): void;
  getAllTools(): { name: string; sourceInfo?: { path?: string; source?: string } }[];
}

export default function piProbe(pi: Pi): void {
  pi.on('input', (_, { ui }) => {
    const tools = pi.getAllTools().map(({ name, sourceInfo: { path, source } = {} }) => ({ name, path, source }));
    ui.setStatus(TOOLS_KEY, JSON.stringify(tools));
    return { action: 'handled' };
  });
}
