import { childEnvironment } from '../processes/index.ts';

/** Git's answer must not depend on a repository some outer git command has in hand. */
export function gitEnvironment(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const clean = childEnvironment(env, { GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' });
  for (const name of Object.keys(clean))
    if (name.startsWith('GIT_') && name !== 'GIT_OPTIONAL_LOCKS') delete clean[name];
  return clean;
}
