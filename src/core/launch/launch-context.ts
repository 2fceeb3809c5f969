/** Whether a child begins with nothing, or with a copy of its parent's conversation. Pure. */
import { lanesError } from '../../protocol/index.ts';

export interface ParentSession {
  /** Session file, absolute. */
  file: string;
}

export interface ContextWishes {
  /** `profile`: as the agent declares it, whatever is usual. */
  call?: 'fresh' | 'fork' | 'profile' | undefined;
  usual?: 'fresh' | 'fork' | undefined;
  agent?: 'fresh' | 'fork' | undefined;
  /** Name of the agent. */
  name: string;
  /** Absent: there is none, or it is kept nowhere. */
  parent?: ParentSession | undefined;
}

export interface Context {
  context: 'fresh' | 'fork';
  /** Session file whose copy it begins with. */
  forkOf?: string;
}

/** @throws LanesError for a fork that was asked for and is not possible, and for the profile of an agent that has none */
export function contextOf({ call, usual, agent, name, parent }: ContextWishes): Context {
  if (call === 'profile' && agent === undefined) throw lanesError('launch_invalid:profile', { name });
  const context = call === 'profile' ? agent : (call ?? usual ?? agent);
  if (context !== 'fork') return { context: 'fresh' };
  if (parent) return { context, forkOf: parent.file };
  // Only what somebody asked for by name has to be done.
  if (call === 'fork') throw lanesError('launch_invalid:fork');
  return { context: 'fresh' };
}
