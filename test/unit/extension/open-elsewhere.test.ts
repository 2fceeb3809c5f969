/** What a transcript names is opened only where a person sees it coming. */
import { beforeEach, expect, it, vi } from 'vitest';
import { openFileAt, openLink } from '../../../src/extension/panels/transcript/open-elsewhere.ts';

const editor = vi.hoisted(() => ({
  opened: [] as string[],
  looked: [] as string[],
  asked: [] as unknown[],
  answer: undefined as string | undefined,
  isTrusted: true,
}));

vi.mock('vscode', () => ({
  l10n: {
    t: (text: string, ...values: unknown[]) => text.replace(/\{(\d)\}/g, (_, index) => String(values[Number(index)])),
  },
  FileType: { File: 1, Directory: 2 },
  Uri: { file: (fsPath: string) => ({ fsPath }), parse: (text: string) => text },
  Position: class {},
  Range: class {},
  env: { openExternal: async (uri: string) => editor.opened.push(uri) },
  commands: { executeCommand: async (_: string, { fsPath }: { fsPath: string }) => editor.opened.push(fsPath) },
  window: {
    showWarningMessage: async (...args: unknown[]) => {
      editor.asked.push(args);
      return editor.answer;
    },
  },
  workspace: {
    get isTrusted() {
      return editor.isTrusted;
    },
    getWorkspaceFolder: ({ fsPath }: { fsPath: string }) => (fsPath.startsWith('/work/') ? {} : undefined),
    fs: {
      stat: async ({ fsPath }: { fsPath: string }) => {
        editor.looked.push(fsPath);
        if (fsPath.includes('missing')) throw new Error('ENOENT');
        return { type: fsPath.endsWith('/folder') ? 2 : 1 };
      },
    },
  },
}));

beforeEach(() => {
  Object.assign(editor, { opened: [], looked: [], asked: [], answer: undefined, isTrusted: true });
});

it('opens web addresses, and nothing that only looks like one', async () => {
  await openLink('https://example.org/a?b#c');
  expect(editor.opened).toEqual(['https://example.org/a?b#c']);
  for (const url of [
    'command:x',
    'file:///etc/passwd',
    'javascript:1',
    'vscode://x',
    'https://me:secret@host/',
    'nothing',
    '',
  ])
    await expect(openLink(url), url).rejects.toMatchObject({ code: 'link_refused' });
  expect(editor.opened).toHaveLength(1);
});

it('opens files of a trusted workspace at once, relative ones below the folder of the run', async () => {
  await openFileAt('/work', 'src/a.ts', 3);
  await openFileAt('/elsewhere', '/work/b.ts', null);
  expect(editor.opened).toEqual(['/work/src/a.ts', '/work/b.ts']);
  expect(editor.asked).toEqual([]);
});

it('asks before it opens others', async () => {
  await openFileAt('/work', '../home/a.ts', null);
  expect(editor.opened).toEqual([]);
  expect(editor.asked).toMatchObject([[expect.any(String), { modal: true, detail: '/home/a.ts' }, 'Open']]);
  editor.answer = 'Open';
  await openFileAt('/work', '/home/a.ts', null);
  expect(editor.opened).toEqual(['/home/a.ts']);
  editor.isTrusted = false;
  editor.answer = undefined;
  await openFileAt('/work', 'a.ts', null);
  expect(editor.opened).toHaveLength(1);
});

it('says what is not there, and does not even look at other machines', async () => {
  for (const path of ['missing.ts', 'folder', 'a\0b']) {
    await expect(openFileAt('/work', path, null), path).rejects.toMatchObject({ code: 'file_not_found' });
  }
  await expect(openFileAt(null, 'a.ts', null)).rejects.toMatchObject({ code: 'file_not_found' });
  editor.looked = [];
  for (const path of ['\\\\server\\share\\a.ts', '//server/share/a.ts'])
    await expect(openFileAt('/work', path, null), path).rejects.toMatchObject({ code: 'file_not_found' });
  expect(editor.looked).toEqual([]);
});
