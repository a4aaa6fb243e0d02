// `npm run bench`: the project's measurements on this machine. Every test/bench/*.bench.ts
// exports a `title` and `rows()`, which resolves to objects with the same keys: a table
// each. Words after it pick the files whose name holds them.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, bundleTests } from './build.mjs';
import { out, root } from './paths.mjs';

const folder = path.join(root, 'test', 'bench');
const words = process.argv.slice(2);

/** A table with every column as wide as its widest cell; numbers stand to the right. */
function table(rows) {
  const columns = Object.keys(rows[0] ?? {});
  const cell = (value) =>
    typeof value === 'number' ? value.toLocaleString('en-US', { maximumFractionDigits: 3 }) : String(value);
  const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => cell(row[column]).length)));
  const pad = (text, i, value) => (typeof value === 'number' ? text.padStart(widths[i]) : text.padEnd(widths[i]));
  const head = columns.map((column, i) => pad(column, i, rows[0][column])).join('  ');
  return [
    head,
    ...rows.map((row) => columns.map((column, i) => pad(cell(row[column]), i, row[column])).join('  ')),
  ].join('\n');
}

const sources = readdirSync(folder)
  .filter((file) => file.endsWith('.bench.ts') && (words.length === 0 || words.some((word) => file.includes(word))))
  .sort()
  .map((file) => path.join(folder, file));
if (sources.length === 0) {
  console.error(`There is no measurement in test/bench${words.length > 0 ? ` named like ${words.join(' or ')}` : ''}.`);
  process.exit(2);
}
/** The same rows for a spreadsheet, beside the bundles. */
function writeCsv(name, rows) {
  const columns = Object.keys(rows[0] ?? {});
  const cell = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  const file = path.join(out, 'bench', `${name}.csv`);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${lines.map((line) => line.map(cell).join(',')).join('\n')}\n`);
  return path.relative(root, file);
}

await build();
for (const file of await bundleTests(sources, path.join(out, 'bench'))) {
  const { title, rows } = await import(pathToFileURL(file).href);
  const measured = await rows();
  console.log(`\n${title}\n`);
  console.log(table(measured));
  console.log(`\nAlso as ${writeCsv(path.basename(file).replace(/\.bench\.\w+$/, ''), measured)}`);
}
