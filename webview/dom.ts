/** Building elements without markup: data only ever becomes text or a property. */

type Properties = Readonly<Record<string, string | boolean | number>>;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes?: Properties,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name];
export function element(name: string, attributes?: Properties, ...children: readonly (Node | string)[]): HTMLElement;
export function element(
  name: string,
  attributes: Properties = {},
  ...children: readonly (Node | string)[]
): HTMLElement {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, '');
    else if (value !== false) made.setAttribute(key, String(value));
  }
  made.append(...children);
  return made;
}

/** Sets the text only where it differs, so that a live region does not speak twice. */
export function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}
