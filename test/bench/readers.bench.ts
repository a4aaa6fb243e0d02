/**
 * How long reading takes, warm: each reader over the fixtures that it claims, and one long file of each kind of text,
 * about 2,000 lines around one config, as it is read again at every keystroke. The goal there is 20 ms.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { readerFor } from '../../src/analysis.ts';
import type { Reader, Texts } from '../../src/model/reading.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { READERS } from '../../src/readers/table.ts';
import { fixtureTexts } from '../readers/front-ends.ts';

export const title = 'Reading, warm: the fixtures of each reader, and long files read again';

export interface ReaderRow {
  readonly what: string;
  readonly files: number;
  readonly lines: number;
  readonly plans: number;
  readonly 'p50 ms': number;
  readonly 'p95 ms': number;
}

interface Document {
  readonly file: string;
  readonly texts: Texts;
}

const RUNS = 7;
const LONG_LINES = 2000;

export async function rows(): Promise<readonly ReaderRow[]> {
  await loadParsers(['yaml', 'jsonc', 'toml', 'python']);
  const documents = documentsByReader();
  const fixtures = READERS.map((reader) => measure(reader.id, reader, documents.get(reader.id)!));
  const long = longDocuments(documents).map(({ reader, document }) =>
    measure(`${reader.id}, long: ${document.file}`, reader, [document]),
  );
  return [...fixtures, ...long];
}

function documentsByReader(): ReadonlyMap<string, readonly Document[]> {
  const found = new Map<string, Document[]>(READERS.map(({ id }) => [id, []]));
  for (const folder of readdirSync(join(process.cwd(), 'test/fixtures'))) {
    const texts = fixtureTexts(folder);
    for (const [file, text] of Object.entries(texts)) {
      const reader = readerFor(file, text);
      if (reader !== null) found.get(reader.id)!.push({ file, texts });
    }
  }
  return found;
}

/** What surrounds the config in a long file: what such files have around it. */
const FILLER: Readonly<Record<string, (i: number) => string>> = {
  sh: (i) => `export OPTION_${i}="\${OPTION_${i - 1}:-${i}}" # option ${i}\nARGS_${i}=(--name "run-$OPTION_${i}")\n`,
  yaml: (i) => `part_${i}:\n  name: run-${i}\n  steps: ${i} # option\n`,
  yml: (i) => `part_${i}:\n  name: run-${i}\n  steps: ${i} # option\n`,
  toml: (i) => `[options.part_${i}]\nname = "run-${i}"\n`,
  json: (i) => `  "option_${i}": { "name": "run-${i}", "values": [1, 2, ${i}] },\n`,
  py: (i) => `def helper_${i}(value, scale=${i}):\n    total = value * scale + ${i}\n    return {"total": total}\n\n`,
};

function lengthened(file: string, text: string): string | null {
  const filler = FILLER[file.slice(file.lastIndexOf('.') + 1)];
  if (filler === undefined) return null;
  let added = '';
  for (let i = 1, lines = 0; lines < LONG_LINES; i++) {
    added += filler(i);
    lines += filler(i).split('\n').length - 1;
  }
  if (file.endsWith('.json')) return text.replace('{', `{\n${added}`);
  // A launch stands at the end of its script, a table of TOML must not swallow what follows it.
  return file.endsWith('.sh') ? added + text : `${text}\n${added}`;
}

/** The first fixture of each reader that can be lengthened and still holds a plan. */
function longDocuments(documents: ReadonlyMap<string, readonly Document[]>) {
  return READERS.flatMap((reader) => {
    for (const { file, texts } of documents.get(reader.id)!) {
      const text = lengthened(file, texts[file]!);
      if (text === null || !reader.claims(file, text)) continue;
      const document = { file, texts: { ...texts, [file]: text } };
      if (reader.read(file, document.texts, {}).plans.length > 0) return [{ reader, document }];
    }
    return [];
  });
}

/** Percentiles over files, each by the median of its reads: what other processes take is not the reader's. */
function measure(what: string, reader: Reader, documents: readonly Document[]): ReaderRow {
  const reads = documents.map(({ file, texts }) => medianRead(reader, file, texts)).sort((a, b) => a.ms - b.ms);
  const at = (share: number) => Number((reads[Math.floor(reads.length * share)]?.ms ?? 0).toFixed(2));
  return {
    what,
    files: documents.length,
    lines: Math.max(0, ...documents.map(({ file, texts }) => texts[file]!.split('\n').length)),
    plans: reads.reduce((sum, { plans }) => sum + plans, 0),
    'p50 ms': at(0.5),
    'p95 ms': at(0.95),
  };
}

/** The first read, which warms up, does not count. */
function medianRead(reader: Reader, file: string, texts: Texts): { readonly ms: number; readonly plans: number } {
  const plans = reader.read(file, texts, {}).plans.length;
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const start = performance.now();
    reader.read(file, texts, {});
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  return { ms: times[Math.floor(RUNS / 2)]!, plans };
}
