/**
 * The form controls of the header. They are custom elements of the toolkit; until its bundle has come they are plain
 * text (`timeline.css`), and everything that they do can be done by a key on the timeline as well.
 */

import { element } from './dom.ts';

export function button(label: string, title: string, onPress: () => void): HTMLElement {
  const made = element('vscode-button', { appearance: 'secondary', title, 'aria-label': title }, label);
  made.addEventListener('click', onPress);
  return made;
}

export interface Checkbox {
  readonly element: HTMLElement;
  readonly set: (checked: boolean) => void;
}

export function checkbox(label: string, onChange: (checked: boolean) => void): Checkbox {
  const made = element('vscode-checkbox', {}, label) as HTMLElement & { checked?: boolean };
  let silent = false;
  made.addEventListener('change', () => {
    if (!silent) onChange(made.checked === true);
  });
  return {
    element: made,
    set: (checked) => {
      if (made.checked === checked) return;
      silent = true;
      made.checked = checked;
      made.toggleAttribute('checked', checked);
      silent = false;
    },
  };
}

export interface Chooser {
  readonly element: HTMLElement;
  readonly set: (options: readonly { readonly id: string; readonly name: string }[], chosen: string) => void;
}

export function chooser(label: string, onChoose: (id: string) => void): Chooser {
  const made = element('vscode-dropdown', { 'aria-label': label, title: label }) as HTMLElement & { value?: string };
  let shown = '';
  let known: ReadonlySet<string> = new Set();
  made.addEventListener('change', () => {
    const value = made.value ?? '';
    if (value === shown || !known.has(value)) return;
    shown = value;
    onChoose(value);
  });
  return {
    element: made,
    set: (options, chosen) => {
      shown = chosen;
      known = new Set(options.map((option) => option.id));
      made.replaceChildren(
        ...options.map(({ id, name }) => element('vscode-option', { value: id, selected: id === chosen }, name)),
      );
      made.value = chosen;
    },
  };
}
