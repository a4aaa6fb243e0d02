/** The jobs upon a file: the one facade, called with what came as a message, once the reader's parsers are loaded. */

import { analyse, explainText, prepare, readerFor, timelineOf, timelineView, withFixes } from '../analysis.ts';
import { exhaustive } from '../model/exhaustive.ts';
import type { Reader, Texts } from '../model/reading.ts';
import { chromeTrace } from '../sim/chrome-trace.ts';
import type { AnyAnswer, FileJob, Outcome } from './protocol.ts';

export async function runFileJob(job: FileJob): Promise<Outcome<AnyAnswer>> {
  switch (job.kind) {
    case 'analysis': {
      await prepareFor(job.ask.file, job.ask.texts);
      const started = performance.now();
      const analysis = analyse(job.ask);
      return { status: 'done', value: { analysis, ms: performance.now() - started } };
    }
    case 'fixes': {
      const { input, analysis } = job.ask;
      await prepareFor(input.file, input.texts);
      return { status: 'done', value: withFixes(input, analysis) };
    }
    case 'view':
      return { status: 'done', value: timelineView(job.ask.analysis, job.ask.planId) };
    case 'trace': {
      const found = timelineOf(job.ask);
      if (found.timeline === null) return { status: 'refused', reason: found.reason };
      return { status: 'done', value: new TextEncoder().encode(chromeTrace(found.timeline)) };
    }
    case 'explanation':
      return { status: 'done', value: explainText(job.ask) };
    case 'completions': {
      const { file, text, offset } = job.ask;
      const reader = await prepareFor(file, { [file]: text });
      return { status: 'done', value: reader?.completions?.(file, text, offset) ?? [] };
    }
    default:
      return exhaustive(job);
  }
}

/** The reader, ready to read; null where the file is nobody's. */
async function prepareFor(file: string, texts: Texts): Promise<Reader | null> {
  const reader = readerFor(file, texts[file] ?? '');
  if (reader !== null) await prepare(reader);
  return reader;
}
