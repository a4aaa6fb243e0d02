// The types of serve.mjs, for the browser tests.

import type { Browser, LaunchOptions, Page } from 'playwright-core';

export type HostOptions = {
  /** `newest` (the default), `oldest`, or a version of hosts.mjs. */
  readonly version?: string;
  /** The folder that `url` and `openWindow` open; none: an empty window. */
  readonly folder?: string;
  /** 0, the default: a free one. */
  readonly port?: number;
  /** Fresh ones when not given. */
  readonly extensionsDir?: string;
  readonly userDataDir?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** True: a folder opens in Restricted Mode until it is trusted. Default false. */
  readonly workspaceTrust?: boolean;
  /** False: a plain editor, which takes no development payload. Default true. */
  readonly smokeTestDriver?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly log?: (text: string) => void;
};

export type Host = {
  readonly url: string;
  readonly origin: string;
  readonly port: number;
  /** The VS Code version. */
  readonly version: string;
  readonly folder: string | undefined;
  readonly extensionsDir: string;
  readonly userDataDir: string;
  /** The server's exit code, once it has ended. */
  readonly exited: Promise<number>;
  readonly stop: () => Promise<void>;
};

export type WindowOptions = {
  /** A folder or a `.code-workspace` file; none: an empty window. */
  readonly folder?: string;
  /** One or several extensions under development. */
  readonly extensionDevelopmentPath?: string | readonly string[];
  readonly extensionTestsPath?: string;
  readonly payload?: readonly (readonly [string, string])[];
};

export function startHost(options?: HostOptions): Promise<Host>;
export function installExtension(options: {
  readonly version?: string;
  readonly vsix: string;
  readonly extensionsDir: string;
}): Promise<string>;
export function windowUrl(origin: string, options?: WindowOptions): string;
export function launchBrowser(options?: LaunchOptions): Promise<Browser>;
/** Opens the host's folder (or another) with the repository's extension under development; waits until it is ready. */
export function openWindow(
  page: Page,
  options: WindowOptions & { readonly host: Host; readonly timeoutMs?: number },
): Promise<void>;
/** Runs a command from the palette by its full title, such as `View: Toggle Output`. */
export function runCommand(page: Page, title: string): Promise<void>;
