/**
 * The JSON schema (draft-07) of the native format, made from the key table. `media/schema/pipeline.schema.json` is
 * its text; a test holds the two together. It carries no defaults: what is missing is unknown.
 */

import { type ChoiceKey, childKey, childNames, choiceValues, isNativeKey, type KeyRow, keyRow } from './keys.ts';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;

const REQUIRED: Readonly<Record<string, readonly string[]>> = { '': ['pipeline'], pipeline: ['size'] };

export function nativeSchema(): JsonObject {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Bubblelens pipeline file',
    description:
      'A plan for pipeline-parallel training: sizes, schedule, split, times and cluster. Only pipeline.size is required; what is missing is unknown, not guessed.',
    ...objectSchema(''),
  };
}

function objectSchema(parent: string): JsonObject {
  const properties = Object.fromEntries(childNames(parent).map((name) => [name, keySchema(childKey(parent, name))]));
  const required = REQUIRED[parent];
  return {
    type: 'object',
    additionalProperties: false,
    ...(required === undefined ? {} : { required }),
    properties,
  };
}

function keySchema(key: string): JsonObject {
  if (!isNativeKey(key)) throw new Error(`no key ${key}`);
  const row = keyRow(key);
  return { description: row.description, ...typeSchema(key, row) };
}

function typeSchema(key: string, row: KeyRow): JsonObject {
  switch (row.type) {
    case 'integer':
    case 'number':
      return {
        type: row.type,
        [row.exclusive === true ? 'exclusiveMinimum' : 'minimum']: row.minimum,
        maximum: row.maximum,
        examples: row.examples,
      };
    case 'boolean':
      return { type: 'boolean' };
    case 'text':
      return { type: 'string', examples: row.examples };
    case 'choice':
      return { type: 'string', ...choiceSchema(row) };
    case 'map':
      return objectSchema(key);
    case 'list':
      return { type: 'array', items: objectSchema(`${key}[]`) };
  }
}

/** Where other spellings are accepted, the words to offer stand apart from those that only validate. */
function choiceSchema(row: ChoiceKey): JsonObject {
  const ours = { enum: choiceValues(row), enumDescriptions: Object.values(row.meanings) };
  const others = Object.keys(row.spellings);
  return others.length === 0 ? ours : { anyOf: [ours, { enum: others, deprecationMessage: 'Another name for it.' }] };
}
