/** The toolkit's ready-made bundle has no types of its own: they are the package's. */

declare module '@vscode/webview-ui-toolkit/dist/toolkit.min.js' {
  export {
    provideVSCodeDesignSystem,
    vsCodeButton,
    vsCodeCheckbox,
    vsCodeDropdown,
    vsCodeOption,
  } from '@vscode/webview-ui-toolkit';
}
