/** The commands: one typed table. The manifest and the README are held against it by a test. */

interface CommandRow {
  readonly title: string;
  /** Whether the palette shows it, as a `when` clause; true means always. */
  readonly when: string;
}

const ON_CONFIG = 'bubblelens.hasConfig';

export const COMMANDS = {
  'bubblelens.showTimeline': { title: 'Show Timeline', when: ON_CONFIG },
  'bubblelens.explainConfig': { title: 'Explain This Config', when: ON_CONFIG },
  'bubblelens.setGpuCount': { title: 'Set GPU Count', when: ON_CONFIG },
  'bubblelens.exportTrace': { title: 'Export Timeline as Chrome Trace', when: ON_CONFIG },
  'bubblelens.openExample': { title: 'Open Example', when: 'true' },
} as const satisfies Readonly<Record<string, CommandRow>>;

export type CommandId = keyof typeof COMMANDS;
