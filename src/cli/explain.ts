/**
 * `bubblelens explain FILE…`: reads each file, with its companions below the root, and reports every plan in it. The
 * JSON form holds the same analysis that the editor shows.
 */

import { parseArgs } from 'node:util';
import { settled } from '../advice/missing-companions.ts';
import { analyse, explainText, prepare, readerFor, withFixes } from '../analysis.ts';
import { type MeasuredCosts, measuredCosts } from '../cost/measured.ts';
import type { Analysis } from '../model/analysis.ts';
import type { Said } from '../model/plan.ts';
import type { Texts } from '../model/reading.ts';
import { SAID_KEYS, type SaidKey, saidProblem } from '../model/said-keys.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../model/settings.ts';
import { scheduleByAlias } from '../sim/schedules/table.ts';
import { prepared, refusalOf } from './arguments.ts';
import { analysisJson } from './explain-json.ts';
import { isFolder, locate, MAX_COMPANIONS, readCompanions, readDocument } from './workspace-files.ts';

export const EXPLAIN_USAGE =
  'usage: bubblelens explain FILE… [--root DIR] [--costs FILE] [--gpus N] [--set key=value]… [--json]';

interface ExplainOptions {
  readonly files: readonly string[];
  readonly root: string | null;
  readonly said: Said;
  readonly costs: string | null;
  readonly json: boolean;
}

/** Writes to stdout and stderr; returns the exit code: 0 done, 2 usage or a file that could not be read. */
export async function explain(args: readonly string[]): Promise<number> {
  const options = explainOptions(args);
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n`);
    return 2;
  }
  const measured = options.costs === null ? undefined : await readCosts(options.costs);
  if (typeof measured === 'string') {
    process.stderr.write(`bubblelens: ${measured}\n`);
    return 2;
  }
  const done: { readonly analysis: Analysis; readonly texts: Texts }[] = [];
  let failed = false;
  for (const path of options.files) {
    const result = await explainFile(path, options, measured);
    if (typeof result === 'string') {
      process.stderr.write(`bubblelens: ${path}: ${result}\n`);
      failed = true;
    } else done.push(result);
  }
  if (options.json) {
    const files = done.map(({ analysis, texts }) => analysisJson(analysis, texts));
    process.stdout.write(`${JSON.stringify({ version: 1, files })}\n`);
  } else {
    process.stdout.write(done.map(({ analysis }) => explainText(analysis)).join('\n'));
  }
  return failed ? 2 : 0;
}

/** The options, or one line that says what is wrong with them. */
function explainOptions(args: readonly string[]): ExplainOptions | string {
  try {
    const { values, positionals } = parseArgs({
      args: prepared(args),
      allowPositionals: true,
      options: {
        root: { type: 'string' },
        costs: { type: 'string' },
        gpus: { type: 'string' },
        set: { type: 'string', multiple: true },
        json: { type: 'boolean' },
      },
    });
    if (positionals.length === 0) return EXPLAIN_USAGE;
    const gpus = values.gpus === undefined ? [] : [`cluster.gpus=${values.gpus}`];
    const said = saidOf([...(values.set ?? []), ...gpus]);
    if (typeof said === 'string') return `bubblelens: ${said}`;
    const { root = null, costs = null, json = false } = values;
    if (root !== null && !isFolder(root)) return `bubblelens: --root takes a folder, and "${root}" is none`;
    return { files: positionals, root, said, costs, json };
  } catch (error) {
    return `bubblelens explain: ${refusalOf(error)}`;
  }
}

function saidOf(settings: readonly string[]): Said | string {
  const said: Record<string, Said[string]> = {};
  for (const setting of settings) {
    const at = setting.indexOf('=');
    const key = setting.slice(0, Math.max(0, at)).trim();
    const value = setting.slice(at + 1).trim();
    if (at < 0) return `--set takes key=value, not "${setting}"`;
    if (!Object.hasOwn(SAID_KEYS, key))
      return `--set does not know "${key}"; known: ${Object.keys(SAID_KEYS).join(', ')}`;
    const problem = saidProblem(key as SaidKey, value, (name) => scheduleByAlias(name) !== null);
    if (problem !== null) return problem;
    said[key] = {
      value: key === 'pipeline.schedule' ? (scheduleByAlias(value) ?? value) : value,
      by: 'the command line',
    };
  }
  return said;
}

async function explainFile(
  path: string,
  { root, said }: ExplainOptions,
  measured: MeasuredCosts | undefined,
): Promise<{ readonly analysis: Analysis; readonly texts: Texts } | string> {
  const at = locate(path, root);
  let texts: Texts;
  try {
    texts = { [at.file]: readDocument(path) };
  } catch (error) {
    return readFailure(error);
  }
  const reader = readerFor(at.file, texts[at.file] ?? '');
  if (reader !== null) await prepare(reader);
  const given = measured === undefined ? {} : { measured };
  const input = () => ({ file: at.file, texts, said, settings: DEFAULT_ANALYSIS_SETTINGS, ...given });
  let analysis = analyse(input());
  for (let round = 0; round < MAX_COMPANIONS && analysis.needs.length > 0; round++) {
    const found = readCompanions(at.root, analysis.needs, texts);
    if (Object.keys(found).length === 0) break;
    texts = { ...texts, ...found };
    analysis = analyse(input());
  }
  return { analysis: settled(withFixes(input(), analysis), texts[at.file] ?? ''), texts };
}

/** The measured times of a native file, or in one line why there are none. */
async function readCosts(path: string): Promise<MeasuredCosts | string> {
  let text: string;
  try {
    text = readDocument(path);
  } catch (error) {
    return `--costs ${path}: ${readFailure(error)}`;
  }
  const reader = readerFor(path, text);
  if (reader?.id !== 'native')
    return `--costs ${path}: not a file in the native format (*.pipeline.yaml, *.pipeline.json)`;
  await prepare(reader);
  const [plan] = reader.read(path, { [path]: text }, {}).plans;
  const measured = plan === undefined ? null : measuredCosts(path, plan);
  return measured ?? `--costs ${path}: it lists no stages with their times`;
}

function readFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EACCES') return 'may not be read';
  return message.split('\n')[0] ?? 'cannot be read';
}
