/** The YAML parser as a chunk of its own: the few functions of the `yaml` library that the front end uses. */

export { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
