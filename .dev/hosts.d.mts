// The types of hosts.mjs, for the browser tests.

export type HostPaths = {
  readonly name: string;
  readonly version: string;
  readonly vscode: string;
  readonly folder: string;
  readonly nodePath: string;
  readonly serverMain: string;
  /** Stands for the `code` program. */
  readonly executable: string;
};

export const hostTable: readonly { readonly name: string; readonly version: string; readonly vscode: string }[];
export function ensureHost(which: string): Promise<HostPaths>;
export function ensureHosts(names?: readonly string[]): Promise<readonly HostPaths[]>;
