/**
 * The editor languages whose documents are looked at. A document of one of them is still nobody's until a reader
 * claims it by its path and a cheap look.
 */

export const LANGUAGES = ['shellscript', 'yaml', 'toml', 'json', 'jsonc', 'python'] as const;

/**
 * The ones that start the extension; a test holds the manifest against them. Plain JSON is not among them: the editor
 * opens JSON of its own in every window. `*.pipeline.json` is registered as JSON with comments, and so starts it.
 */
export const STARTING_LANGUAGES = [
  'shellscript',
  'yaml',
  'toml',
  'jsonc',
  'python',
] as const satisfies readonly Language[];

/**
 * Files whose presence at the top of a folder starts the extension: the usual names of DeepSpeed's JSON. They are plain
 * names, so that the editor only looks whether they are there; a pattern would make it search the whole folder in every
 * window. JSON elsewhere, or of another name, is read once anything else has started the extension.
 */
export const STARTING_FILES = ['ds_config.json', 'deepspeed_config.json'] as const;

export type Language = (typeof LANGUAGES)[number];

const EXTENSIONS: Readonly<Record<Language, string>> = {
  shellscript: '.sh',
  yaml: '.yaml',
  toml: '.toml',
  json: '.json',
  jsonc: '.json',
  python: '.py',
};

export function isLanguage(id: string): id is Language {
  return (LANGUAGES as readonly string[]).includes(id);
}

/** The name of a document that has no file yet (`Untitled-1`), with the extension that its language would have. */
export function nameWithExtension(name: string, language: string): string {
  return name.includes('.') || !isLanguage(language) ? name : `${name}${EXTENSIONS[language]}`;
}
