/** Keys of the list: an item has the focus, arrows move it, Enter unfolds, `c` copies. */
export interface ListKeys {
  /** Moves the focus by rows. */
  step(by: number): void;
  toStart(): void;
  toEnd(): void;
  /** Moves by a screenful. */
  page(by: 1 | -1): void;
  /** Folds or unfolds the item that has the focus. */
  toggle(row: HTMLElement): void;
  copy(row: HTMLElement): void;
}

/** Handles a key of the list; anything pressed inside a control of an item is the control's. */
export function handleListKey(event: KeyboardEvent, keys: ListKeys): void {
  const { target } = event;
  if (!(target instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return;
  const row = target.classList.contains('row') ? target : undefined;
  // Arrows scroll a box that has the focus, and the list is not left by them.
  if (!row && target.closest('.row')) return;
  switch (event.key) {
    case 'ArrowDown':
      keys.step(1);
      break;
    case 'ArrowUp':
      keys.step(-1);
      break;
    case 'Home':
      keys.toStart();
      break;
    case 'End':
      keys.toEnd();
      break;
    case 'PageDown':
      keys.page(1);
      break;
    case 'PageUp':
      keys.page(-1);
      break;
    case 'Enter':
    case ' ':
      if (!row) return;
      keys.toggle(row);
      break;
    case 'c':
      if (!row) return;
      keys.copy(row);
      break;
    default:
      return;
  }
  event.preventDefault();
}
