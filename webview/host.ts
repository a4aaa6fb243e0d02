/**
 * The extension as the page sees it: messages both ways, the state that survives a reload, and what the page was
 * given when it was made.
 */

import type { FromWebview, TimelineState, ToWebview } from '../src/model/protocol.ts';
import { readMessage, readState } from './messages.ts';

interface Api {
  readonly postMessage: (message: FromWebview) => void;
  readonly getState: () => unknown;
  readonly setState: (state: unknown) => void;
}

declare function acquireVsCodeApi(): Api;

export interface Host {
  readonly post: (message: FromWebview) => void;
  /** What was kept before a reload; the document and the plan as the extension gave them where nothing was. */
  readonly restored: TimelineState;
  readonly keep: (state: TimelineState) => void;
  readonly listen: (receive: (message: ToWebview) => void) => void;
}

export function connect(): Host {
  const api = acquireVsCodeApi();
  const given = givenState();
  const before = readState(api.getState());
  return {
    post: (message) => api.postMessage(message),
    restored: { ...before, document: given.document ?? before.document, planId: before.planId ?? given.planId },
    keep: (state) => api.setState(state),
    listen: (receive) => {
      window.addEventListener('message', (event) => {
        const message = readMessage(event.data);
        if (message !== null) receive(message);
      });
    },
  };
}

function givenState(): TimelineState {
  const text = document.getElementById('bubblelens-state')?.textContent;
  try {
    return readState(JSON.parse(text ?? 'null'));
  } catch {
    return readState(null);
  }
}

/** The editor changes a class or the style of the body, or the root's style, when the theme changes. */
export function watchTheme(changed: () => void): void {
  const observer = new MutationObserver(changed);
  const filter = { attributes: true, attributeFilter: ['class', 'style', 'data-vscode-theme-id'] };
  observer.observe(document.body, filter);
  observer.observe(document.documentElement, filter);
  matchMedia('(forced-colors: active)').addEventListener('change', changed);
}

/** The form controls come after the first paint, as a bundle of their own that the page's own script tag names. */
export function loadToolkit(script: HTMLScriptElement | null): void {
  const source = script?.dataset.toolkit;
  if (source === undefined) return;
  requestAnimationFrame(() =>
    setTimeout(() => {
      const tag = document.createElement('script');
      tag.nonce = script?.nonce ?? '';
      tag.src = source;
      document.body.append(tag);
    }),
  );
}
