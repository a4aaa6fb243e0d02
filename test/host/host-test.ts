/** What a test inside VS Code is. A file `<subject>.host.ts` exports `tests`; `index.ts` lists the files. */

/** `empty`: a window without a folder. `folder`: a fresh copy of `examples/`, which a test may write to. */
export type HostWindow = 'empty' | 'folder';

export type HostTest = {
  readonly name: string;
  readonly run: () => Promise<void>;
  /** Default `folder`. */
  readonly window?: HostWindow;
  /** Default 30 s. */
  readonly timeoutMs?: number;
};
