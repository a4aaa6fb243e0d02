/** The TOML parser as a chunk of its own. */

export { ParseError, parseTOML } from 'toml-eslint-parser';
