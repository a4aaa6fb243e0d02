// The types of package.mjs, for the browser tests.

export function packageExtension(): Promise<{ readonly file: string; readonly bytes: number; readonly id: string }>;
