/**
 * `bubblelens simulate --batch`: one JSON request a line in, one JSON answer a line out, in the same order. A refused
 * request answers with its error and the batch goes on.
 */

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { answer, answerJson } from './answer.ts';
import { requestFromJson } from './options.ts';

/** A blank line is a request that is not one, so that answers stand at the lines of their requests. Ends with the input; always 0. */
export async function batch(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Promise<number> {
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (!output.write(`${JSON.stringify(answerLine(line))}\n`)) await once(output, 'drain');
  }
  return 0;
}

function answerLine(line: string): unknown {
  if (line.trim() === '') return { error: 'the line is blank; one JSON request a line' };
  const request = requestFromJson(line);
  const answered = request.ok ? answer(request.value) : request;
  return answered.ok ? answerJson(answered.value, null) : { error: answered.problem };
}
