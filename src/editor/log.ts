/**
 * The edge of every editor feature: what goes wrong inside is written to the output channel "Bubblelens" and the
 * feature answers with nothing; the editor's host never sees an exception of ours, and no notification pops up.
 */

import * as vscode from 'vscode';

export interface Log extends vscode.Disposable {
  readonly info: (message: string) => void;
  readonly failed: (feature: string, error: unknown) => void;
  readonly show: () => void;
}

/** A log whose channel is made on the first line. */
export function createLog(): Log {
  let channel: vscode.LogOutputChannel | null = null;
  const open = (): vscode.LogOutputChannel => {
    channel ??= vscode.window.createOutputChannel('Bubblelens', { log: true });
    return channel;
  };
  return {
    info: (message) => open().info(message),
    failed: (feature, error) => open().error(`${feature}: ${error instanceof Error ? error.stack : String(error)}`),
    show: () => open().show(),
    dispose: () => channel?.dispose(),
  };
}

/** Runs a feature; an exception is logged and answered with `fallback`. */
export function attempt<R>(log: Log, feature: string, fallback: R, run: () => R): R {
  try {
    return run();
  } catch (error) {
    log.failed(feature, error);
    return fallback;
  }
}

/** The same for a feature that waits. */
export async function attemptAsync<R>(log: Log, feature: string, fallback: R, run: () => Promise<R>): Promise<R> {
  try {
    return await run();
  } catch (error) {
    log.failed(feature, error);
    return fallback;
  }
}
