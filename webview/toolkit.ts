/**
 * The one module that owns `@vscode/webview-ui-toolkit`: it registers the custom elements that `controls.ts` creates
 * by their tag names. It is a bundle of its own, loaded after the first paint, so the timeline never waits for it. To
 * change the toolkit, change this file and the tag names there. Its badge is left out: it sets a style attribute, which
 * the page's policy forbids.
 */

import {
  provideVSCodeDesignSystem,
  vsCodeButton,
  vsCodeCheckbox,
  vsCodeDropdown,
  vsCodeOption,
} from '@vscode/webview-ui-toolkit/dist/toolkit.min.js';

provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeCheckbox(), vsCodeDropdown(), vsCodeOption());

// The toolkit reads the theme in a listener of `load`, which has passed when it comes this late: the event is told again.
if (document.readyState === 'complete') window.dispatchEvent(new Event('load'));
