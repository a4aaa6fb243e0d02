/**
 * The part of the editor's theme that the timeline reads, as the editor sets it on a webview: variables on the root
 * and a class on the body. The figures are those of VS Code's own default themes.
 */

export interface Theme {
  readonly bodyClass: string;
  readonly variables: Readonly<Record<string, string>>;
}

const FONT = { 'font-family': 'system-ui, "DejaVu Sans", sans-serif', 'font-size': '13px' };

const variables = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries({ ...FONT, ...values }).map(([key, value]) => [`--vscode-${key}`, value]));

export const THEMES = {
  dark: {
    bodyClass: 'vscode-dark',
    variables: variables({
      'editor-background': '#1f1f1f',
      foreground: '#cccccc',
      descriptionForeground: '#9d9d9d',
      focusBorder: '#0078d4',
      'editorWidget-background': '#202020',
      'editorWidget-border': '#313131',
      'editorHoverWidget-background': '#202020',
      'editorHoverWidget-border': '#454545',
      'badge-background': '#616161',
      'badge-foreground': '#f8f8f8',
      'button-background': '#0078d4',
      'button-foreground': '#ffffff',
      'button-secondaryBackground': '#313131',
      'button-secondaryForeground': '#cccccc',
      'button-secondaryHoverBackground': '#3c3c3c',
      'checkbox-background': '#313131',
      'checkbox-border': '#3c3c3c',
      'dropdown-background': '#313131',
      'dropdown-border': '#3c3c3c',
      'dropdown-foreground': '#cccccc',
      'widget-shadow': 'rgba(0, 0, 0, 0.36)',
      'editorWarning-foreground': '#cca700',
    }),
  },
  light: {
    bodyClass: 'vscode-light',
    variables: variables({
      'editor-background': '#ffffff',
      foreground: '#3b3b3b',
      descriptionForeground: '#3b3b3b',
      focusBorder: '#005fb8',
      'editorWidget-background': '#f8f8f8',
      'editorWidget-border': '#e5e5e5',
      'editorHoverWidget-background': '#f8f8f8',
      'editorHoverWidget-border': '#c8c8c8',
      'badge-background': '#cccccc',
      'badge-foreground': '#3b3b3b',
      'button-background': '#005fb8',
      'button-foreground': '#ffffff',
      'button-secondaryBackground': '#e5e5e5',
      'button-secondaryForeground': '#3b3b3b',
      'button-secondaryHoverBackground': '#cccccc',
      'checkbox-background': '#f8f8f8',
      'checkbox-border': '#cecece',
      'dropdown-background': '#ffffff',
      'dropdown-border': '#cecece',
      'dropdown-foreground': '#3b3b3b',
      'widget-shadow': 'rgba(0, 0, 0, 0.16)',
      'editorWarning-foreground': '#bf8803',
    }),
  },
  highContrast: {
    bodyClass: 'vscode-high-contrast',
    variables: variables({
      'editor-background': '#000000',
      foreground: '#ffffff',
      descriptionForeground: 'rgba(255, 255, 255, 0.7)',
      focusBorder: '#f38518',
      contrastBorder: '#6fc3df',
      'editorWidget-background': '#0c141f',
      'editorWidget-border': '#6fc3df',
      'editorHoverWidget-background': '#0c141f',
      'editorHoverWidget-border': '#6fc3df',
      'badge-background': '#000000',
      'badge-foreground': '#ffffff',
      'button-foreground': '#ffffff',
      'button-secondaryForeground': '#ffffff',
      'button-border': '#6fc3df',
      'checkbox-background': '#000000',
      'checkbox-border': '#6fc3df',
      'dropdown-background': '#000000',
      'dropdown-border': '#6fc3df',
      'dropdown-foreground': '#ffffff',
      'editorWarning-foreground': '#ffd370',
    }),
  },
  highContrastLight: {
    bodyClass: 'vscode-high-contrast-light vscode-high-contrast',
    variables: variables({
      'editor-background': '#ffffff',
      foreground: '#292929',
      descriptionForeground: '#292929',
      focusBorder: '#006bbd',
      contrastBorder: '#0f4a85',
      'editorWidget-background': '#ffffff',
      'editorWidget-border': '#0f4a85',
      'editorHoverWidget-background': '#ffffff',
      'editorHoverWidget-border': '#0f4a85',
      'badge-background': '#0f4a85',
      'badge-foreground': '#ffffff',
      'button-background': '#0f4a85',
      'button-foreground': '#ffffff',
      'button-secondaryBackground': '#ffffff',
      'button-secondaryForeground': '#292929',
      'button-border': '#0f4a85',
      'checkbox-background': '#ffffff',
      'checkbox-border': '#0f4a85',
      'dropdown-background': '#ffffff',
      'dropdown-border': '#0f4a85',
      'dropdown-foreground': '#292929',
      'editorWarning-foreground': '#895503',
    }),
  },
} as const satisfies Readonly<Record<string, Theme>>;

export type ThemeName = keyof typeof THEMES;
