/**
 * The page that holds the timeline: a skeleton with a strict content security policy, which the scripts of `webview/`
 * fill. Pure and without the editor's interface, so that the browser tests open the very same page.
 */

export interface TimelinePage {
  /** Fresh for every page: letters and digits. */
  readonly nonce: string;
  readonly cspSource: string;
  readonly scriptUri: string;
  readonly toolkitUri: string;
  readonly styleUri: string;
  readonly title: string;
  /** A `TimelineState` as JSON, or the part of it that the extension knows: the document and the plan. */
  readonly stateJson?: string;
}

export function timelineHtml(page: TimelinePage): string {
  const nonce = escaped(page.nonce);
  const source = escaped(page.cspSource);
  const policy = [
    "default-src 'none'",
    `img-src ${source}`,
    `style-src ${source} 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    `font-src ${source}`,
  ].join('; ');
  // In a data block only `<` could end the block; as an escape it is the same JSON.
  const state = (page.stateJson ?? 'null').replaceAll('<', '\\u003c');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta property="csp-nonce" content="${nonce}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" nonce="${nonce}" href="${escaped(page.styleUri)}">
<title>${escaped(page.title)}</title>
</head>
<body>
<script type="application/json" id="bubblelens-state" nonce="${nonce}">${state}</script>
<script nonce="${nonce}" src="${escaped(page.scriptUri)}" data-toolkit="${escaped(page.toolkitUri)}" defer></script>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
