/**
 * Vitest's setup for this project: the extension is packed and installed once, as a person would install it. Each window of each
 * test then gets a copy of the folder that this has made.
 */
import type { TestProject } from 'vitest/node';
import { packageExtension } from '../../scripts/package.mjs';
import { createEditorHome } from '../harness/home.ts';
import { installExtension } from '../harness/vsix.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of extensions with the packaged one in it. Not to be changed. */
    installedExtensions: string;
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  const home = createEditorHome();
  try {
    await installExtension(home, await packageExtension());
  } catch (error) {
    home.remove();
    throw error;
  }
  project.provide('installedExtensions', home.extensions);
  return () => home.remove();
}
