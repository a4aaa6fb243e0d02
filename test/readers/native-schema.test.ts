/** The contributed JSON schema is the key table, nothing more and nothing less. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NATIVE_KEYS } from '../../src/readers/native/keys.ts';
import { nativeSchema } from '../../src/readers/native/schema.ts';

const FILE = join(process.cwd(), 'media/schema/pipeline.schema.json');

interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

function keysOf(node: SchemaNode, prefix: string): readonly string[] {
  const inside = Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    const key = prefix === '' ? name : `${prefix}.${name}`;
    return [key, ...keysOf(child, key)];
  });
  return node.items === undefined ? inside : [...inside, ...keysOf(node.items, `${prefix}[]`)];
}

function nodesOf(node: SchemaNode): readonly SchemaNode[] {
  const children = [...Object.values(node.properties ?? {}), ...(node.items === undefined ? [] : [node.items])];
  return [node, ...children.flatMap(nodesOf)];
}

test('the schema file is made from the key table (UPDATE=1 writes it; then format it)', () => {
  if (process.env.UPDATE === '1') writeFileSync(FILE, `${JSON.stringify(nativeSchema(), null, 2)}\n`);
  assert.deepEqual(JSON.parse(readFileSync(FILE, 'utf8')), JSON.parse(JSON.stringify(nativeSchema())));
});

test('the schema has every key of the table, each described, and no defaults', () => {
  const schema = JSON.parse(readFileSync(FILE, 'utf8')) as SchemaNode;
  assert.deepEqual([...keysOf(schema, '')].sort(), Object.keys(NATIVE_KEYS).sort());
  for (const node of nodesOf(schema)) {
    assert.equal(node.default, undefined);
    if (node !== schema.properties?.stages?.items) assert.ok((node.description ?? '').length > 5);
  }
});
