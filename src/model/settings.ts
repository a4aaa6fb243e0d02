/**
 * The settings: one typed table. The manifest and the README are held against it by a test; `src/editor` reads them.
 */

interface SettingRow {
  readonly type: 'boolean' | 'number';
  readonly nullable: boolean;
  readonly default: boolean | number | null;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description: string;
}

export const SETTINGS = {
  'bubblelens.diagnostics.enabled': {
    type: 'boolean',
    nullable: false,
    default: true,
    description: 'Show findings as squiggles and in the Problems view.',
  },
  'bubblelens.inlayHints.enabled': {
    type: 'boolean',
    nullable: false,
    default: true,
    description: 'Show the idle share at the end of the line that holds the pipeline size.',
  },
  'bubblelens.codeLens.enabled': {
    type: 'boolean',
    nullable: false,
    default: true,
    description: 'Show the idle share, and what is missing, above the line that holds the pipeline size.',
  },
  'bubblelens.hover.enabled': {
    type: 'boolean',
    nullable: false,
    default: true,
    description: 'Explain the numbers when hovering over a value that they were computed from.',
  },
  'bubblelens.statusItem.enabled': {
    type: 'boolean',
    nullable: false,
    default: true,
    description: 'Show the idle share in the language status of a file that holds a pipeline config.',
  },
  'bubblelens.price.usdPerGpuHour': {
    type: 'number',
    nullable: true,
    default: null,
    minimum: 0,
    description:
      'What one GPU costs an hour, in US dollars. Without it, money stays unknown unless the config says it.',
  },
  'bubblelens.run.steps': {
    type: 'number',
    nullable: true,
    default: null,
    minimum: 1,
    description:
      'Length of the training run in optimizer steps. Without it, days lost stay unknown unless the config says it.',
  },
  'bubblelens.thresholds.idleShare': {
    type: 'number',
    nullable: false,
    default: 0.1,
    minimum: 0,
    maximum: 1,
    description: 'Idle share from which a plan is worth a warning (0.1 is 10 %).',
  },
  'bubblelens.thresholds.imbalance': {
    type: 'number',
    nullable: false,
    default: 0.03,
    minimum: 0,
    maximum: 1,
    description: 'Share of time lost to uneven stages from which a warning names the heaviest stage.',
  },
  'bubblelens.thresholds.communication': {
    type: 'number',
    nullable: false,
    default: 0.05,
    minimum: 0,
    maximum: 1,
    description: 'Share of time lost to exposed transfers from which a warning is shown.',
  },
} as const satisfies Readonly<Record<string, SettingRow>>;

export type SettingKey = keyof typeof SETTINGS;

/** What the analysis needs of the settings. */
export interface AnalysisSettings {
  readonly usdPerGpuHour: number | null;
  readonly runSteps: number | null;
  readonly idleShareThreshold: number;
  readonly imbalanceThreshold: number;
  readonly communicationThreshold: number;
}

export const DEFAULT_ANALYSIS_SETTINGS: AnalysisSettings = {
  usdPerGpuHour: SETTINGS['bubblelens.price.usdPerGpuHour'].default,
  runSteps: SETTINGS['bubblelens.run.steps'].default,
  idleShareThreshold: SETTINGS['bubblelens.thresholds.idleShare'].default,
  imbalanceThreshold: SETTINGS['bubblelens.thresholds.imbalance'].default,
  communicationThreshold: SETTINGS['bubblelens.thresholds.communication'].default,
};
