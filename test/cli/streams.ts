/** A command's streams for a test: what it reads is given, what it writes is kept. */

import { PassThrough, Readable } from 'node:stream';
import type { Streams } from '../../src/cli/streams.ts';

export interface Kept {
  readonly streams: Streams;
  readonly out: () => string;
  readonly err: () => string;
}

export function keptStreams(input = ''): Kept {
  const stdout = new PassThrough({ highWaterMark: 2 ** 24 });
  const stderr = new PassThrough({ highWaterMark: 2 ** 20 });
  const text = (stream: PassThrough) => String(stream.read() ?? '');
  return {
    streams: { stdin: Readable.from([input]), stdout, stderr },
    out: () => text(stdout),
    err: () => text(stderr),
  };
}
