/** What an example teaches, in its own words: the first sentence of the comment that it opens with. */

/** The first comment line of a config that says something; empty where there is none. */
export function exampleSummary(text: string): string {
  for (const line of text.split(/\r?\n/, 20)) {
    const comment = /^\s*(?:#(?!!)|\/\/)\s*(.*\S)\s*$/.exec(line)?.[1];
    if (comment !== undefined) return comment;
    const named = /^\s*"?name"?\s*:\s*"?([^"]+?)"?,?\s*$/.exec(line)?.[1];
    if (named !== undefined) return named;
  }
  return '';
}
