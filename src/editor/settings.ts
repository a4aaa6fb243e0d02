/** The settings as they stand for a document, from the typed table; a value of the wrong type counts as the default. */

import * as vscode from 'vscode';
import { type AnalysisSettings, SETTINGS, type SettingKey } from '../model/settings.ts';

export type Surface = 'diagnostics' | 'inlayHints' | 'codeLens' | 'hover' | 'statusItem';

/** Whether a surface is switched on. */
export function surfaceEnabled(surface: Surface, uri: vscode.Uri): boolean {
  return read(`bubblelens.${surface}.enabled`, uri) !== false;
}

/** What the analysis needs to know. */
export function analysisSettings(uri: vscode.Uri): AnalysisSettings {
  return {
    usdPerGpuHour: readNumber('bubblelens.price.usdPerGpuHour', uri),
    runSteps: readNumber('bubblelens.run.steps', uri),
    idleShareThreshold: readNumber('bubblelens.thresholds.idleShare', uri) ?? 0,
    imbalanceThreshold: readNumber('bubblelens.thresholds.imbalance', uri) ?? 0,
    communicationThreshold: readNumber('bubblelens.thresholds.communication', uri) ?? 0,
  };
}

function readNumber(key: SettingKey, uri: vscode.Uri): number | null {
  const value = read(key, uri);
  return typeof value === 'number' ? value : null;
}

function read(key: SettingKey, uri: vscode.Uri): boolean | number | null {
  const row: { type: string; default: boolean | number | null; minimum?: number; maximum?: number } = SETTINGS[key];
  const value: unknown = vscode.workspace.getConfiguration(undefined, uri).get(key);
  if (typeof value === 'boolean' && row.type === 'boolean') return value;
  const fits =
    typeof value === 'number' &&
    row.type === 'number' &&
    value >= (row.minimum ?? -Infinity) &&
    value <= (row.maximum ?? Infinity);
  return fits ? value : row.default;
}
