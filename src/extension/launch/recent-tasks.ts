/** The tasks that were launched last in this workspace, newest first, each once. */
import type * as vscode from 'vscode';

const KEY = 'launch.recentTasks';
const MAX_TASKS = 20;
/** Longer ones are work of their own that nobody launches twice, and mementos are kept in memory. */
const MAX_CHARS = 10_000;

export function recentTasks(state: vscode.Memento): readonly string[] {
  return state.get<string[]>(KEY) ?? [];
}

export async function rememberTask(state: vscode.Memento, task: string): Promise<void> {
  if (task.length > MAX_CHARS) return;
  await state.update(KEY, addRecent(recentTasks(state), task));
}

export function addRecent(tasks: readonly string[], task: string): string[] {
  return [task, ...tasks.filter((other) => other !== task)].slice(0, MAX_TASKS);
}
